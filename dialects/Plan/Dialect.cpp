// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the plan dialect.

#include "Assembly.h"
#include "colrow/dialects/Plan/Plan.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

#include "colrow/dialects/Plan/PlanDialect.cpp.inc"
#include "colrow/dialects/Plan/PlanEnums.cpp.inc"
#include "colrow/dialects/Plan/PlanInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "colrow/dialects/Plan/PlanTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "colrow/dialects/Plan/PlanAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "colrow/dialects/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "colrow/dialects/Plan/PlanTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "colrow/dialects/Plan/PlanAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "colrow/dialects/Plan/PlanOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Names of memory in text
//===----------------------------------------------------------------------===//

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getName())
    setName(getResult(), *getName());
}

void InputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

void GlobalOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getSymbol());
}

void ScalarsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "scalars");
}
