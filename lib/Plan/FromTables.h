// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two halves of fromTables().

#ifndef COLROW_LIB_PLAN_FROMTABLES_H
#define COLROW_LIB_PLAN_FROMTABLES_H

#include "Types.h"
#include "colrow/dialects/Plan/Plan.h"

namespace colrow::planir {

/// Creates a program at the builder's place. Symbols are referred to by name.
void readProgram(const plan::PlanT &plan, const plan::ProgramT &program,
                 tp::MeshAttr mesh, mlir::OpBuilder &builder);

} // namespace colrow::planir

#endif // COLROW_LIB_PLAN_FROMTABLES_H
