/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "usage.h"

#include <string.h>

G_DEFINE_QUARK(ntprofctl-usage-error, usage_error)

#define WORD_MAX 32

/* Insertions, deletions, replacements and swaps of neighbours that make b of a (optimal string alignment). */
static unsigned distance(const char *a, const char *b)
{
        unsigned d[WORD_MAX + 1][WORD_MAX + 1];
        const unsigned m = (unsigned) strlen(a), n = (unsigned) strlen(b);

        if (m > WORD_MAX || n > WORD_MAX)
                return G_MAXUINT;
        for (unsigned i = 0; i <= m; i++)
                d[i][0] = i;
        for (unsigned j = 0; j <= n; j++)
                d[0][j] = j;
        for (unsigned i = 1; i <= m; i++)
                for (unsigned j = 1; j <= n; j++) {
                        d[i][j] = MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
                }
        return d[m][n];
}

const char *usage_nearest(const char *word, const char *const *candidates)
{
        const char *nearest = NULL;
        unsigned least = G_MAXUINT;

        for (; *candidates; candidates++) {
                unsigned n = distance(word, *candidates);
                if (strlen(word) >= 3 && g_str_has_prefix(*candidates, word))
                        n = 1;
                if (n < least) {
                        least = n;
                        nearest = *candidates;
                }
        }
        /* A third of the letters may be wrong. */
        return nearest && least <= MAX(1, strlen(nearest) / 3) ? nearest : NULL;
}
