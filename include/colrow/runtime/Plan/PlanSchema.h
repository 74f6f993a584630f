// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan's FlatBuffers tables, namespace colrow::plan. Generated from
// runtime/Plan/plan.fbs, which says what every field means. Enums are scoped.
// Only headers of FlatBuffers are needed, no library.

#ifndef COLROW_RUNTIME_PLAN_PLANSCHEMA_H
#define COLROW_RUNTIME_PLAN_PLANSCHEMA_H

#include "colrow/runtime/Plan/plan_generated.h"

#endif // COLROW_RUNTIME_PLAN_PLANSCHEMA_H
