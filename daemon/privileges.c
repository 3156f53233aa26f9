/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "privileges.h"

#include <glib.h>
#include <sys/capability.h>
#include <sys/resource.h>

DEFINE_CLEANUP_FUNC(cap_t, cap_free);

static uint64_t get(cap_flag_t which)
{
        _cleanup_(cap_freep) cap_t capabilities = cap_get_proc();
        uint64_t set = 0;

        for (cap_value_t i = 0; capabilities && i < cap_max_bits() && i < 64; i++) {
                cap_flag_value_t value;

                if (cap_get_flag(capabilities, i, which, &value) == 0 && value == CAP_SET)
                        set |= PRIVILEGE(i);
        }
        return set;
}

static int fill(cap_t capabilities, cap_flag_t which, uint64_t set)
{
        for (cap_value_t i = 0; i < 64; i++)
                if (set & PRIVILEGE(i) && cap_set_flag(capabilities, which, 1, &i, CAP_SET) < 0)
                        return -errno;
        return 0;
}

/* What is inheritable goes, and with it what is ambient. */
static int set(uint64_t permitted, uint64_t effective)
{
        _cleanup_(cap_freep) cap_t capabilities = cap_init();
        int r;

        if (!capabilities)
                return -errno;
        r = fill(capabilities, CAP_PERMITTED, permitted);
        if (r >= 0)
                r = fill(capabilities, CAP_EFFECTIVE, effective);
        if (r < 0)
                return r;
        return cap_set_proc(capabilities) < 0 ? -errno : 0;
}

int privileges_start(void)
{
        /* Before 5.11 the memory of maps counts as locked. The unit has LimitMEMLOCK=; root by hand can do it here only. */
        (void) setrlimit(RLIMIT_MEMLOCK, &(struct rlimit) { RLIM_INFINITY, RLIM_INFINITY });

        return set(privileges_permitted() & PRIVILEGES_ALL, 0);
}

uint64_t privileges_permitted(void)
{
        return get(CAP_PERMITTED);
}

uint64_t privileges_effective(void)
{
        return get(CAP_EFFECTIVE);
}

uint64_t privileges_lacking(uint64_t needed, uint64_t permitted)
{
        return permitted & PRIVILEGE(CAP_SYS_ADMIN) ? 0 : needed & ~permitted;
}

PrivilegesScope privileges_raise(uint64_t wanted)
{
        PrivilegesScope scope = { privileges_effective() };
        uint64_t permitted = privileges_permitted();

        if (wanted & ~permitted)
                wanted |= PRIVILEGE(CAP_SYS_ADMIN);
        (void) set(permitted, scope.before | (wanted & permitted));
        return scope;
}

void privileges_drop(PrivilegesScope *scope)
{
        int r;

        /* The kernel refuses this to nobody. Better no ntprofd than one that keeps what it was to give back. */
        r = set(privileges_permitted(), scope->before);
        if (r < 0)
                g_error("Capabilities cannot be dropped: %s", g_strerror(-r));
}

char **privileges_names(uint64_t of)
{
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();

        for (cap_value_t i = 0; i < 64; i++) {
                char *lower;

                if (!(of & PRIVILEGE(i)))
                        continue;
                /* A number, when this libcap does not know it. */
                lower = cap_to_name(i);
                if (lower) {
                        g_autofree char *upper = g_ascii_strup(lower, -1);

                        g_strv_builder_add(names, upper);
                }
                cap_free(lower);
        }
        return g_strv_builder_end(names);
}

char *privileges_to_text(uint64_t of)
{
        g_auto(GStrv) names = privileges_names(of);
        GString *text = g_string_new(NULL);

        for (unsigned i = 0; names[i]; i++)
                g_string_append_printf(text, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " and ", names[i]);
        return g_string_free(text, false);
}

char *privileges_advice(uint64_t lacking)
{
        g_autofree char *names = privileges_to_text(lacking);

        if (!lacking)
                return NULL;
        return g_strdup_printf("run ntprofd as its service, with %s in AmbientCapabilities= and CapabilityBoundingSet= "
                               "(systemctl cat ntprofd shows both), or as root", names);
}
