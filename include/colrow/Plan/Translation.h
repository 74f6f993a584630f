// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The translations of tp-translate.

#ifndef COLROW_PLAN_TRANSLATION_H
#define COLROW_PLAN_TRANSLATION_H

namespace colrow::planir {

/// Registers --plan-to-mlir and --mlir-to-plan.
void registerPlanTranslations();

} // namespace colrow::planir

#endif // COLROW_PLAN_TRANSLATION_H
