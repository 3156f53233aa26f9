/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "object-call.h"

NpObjectCall *np_object_call_new(gpointer object, GDBusMethodInvocation *invocation)
{
        NpObjectCall *call = g_new(NpObjectCall, 1);

        *call = (NpObjectCall) { object, invocation };
        return call;
}

void np_object_withdraw(gpointer skeleton)
{
        if (g_dbus_interface_skeleton_get_connection(skeleton))
                g_dbus_interface_skeleton_unexport(skeleton);
        g_object_unref(skeleton);
}
