/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this kernel offers and what ntprof makes of it: the document of Manager.Inspect(), schema org.ntprof.inspection/1. */
#pragma once

#include <json-glib/json-glib.h>

int inspection_make(JsonNode **ret);
/* For people: a row a boundary. The document may come from a recording, so what is not understood is left out. */
char *inspection_to_text(JsonNode *inspection);
