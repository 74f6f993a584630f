// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which library computes what.

#include "colrow/runtime/Libraries/GemmLibraries.h"
#include "Blas.h"
#include "OneDnn.h"
#include "OneThread.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <cstdlib>
#include <optional>

using namespace llvm;

namespace colrow::runtime {

struct GemmLibraries::Opened {
  std::optional<Blas> blas;
  std::unique_ptr<OneDnn> oneDnn;
};

GemmLibraries::GemmLibraries() : opened(std::make_unique<Opened>()) {}
GemmLibraries::~GemmLibraries() = default;

GemmShape shapeOf(const plan::Gemm &g) {
  return {int(g.m()),   int(g.n()),  int(g.k()),  int(g.lda()), int(g.ldb()),
          int(g.ldc()), g.trans_a(), g.trans_b(), g.alpha(),    g.beta(),
          g.a_type(),   g.b_type(),  g.c_type()};
}

GemmTypes gemmTypesOf(const plan::Plan &plan) {
  GemmTypes types;
  if (!plan.programs())
    return types;
  for (const plan::Program *program : *plan.programs()) {
    if (!program->instructions())
      continue;
    for (const plan::Instruction *instruction : *program->instructions())
      if (const plan::Gemm *gemm = instruction->op_as_Gemm())
        (shapeOf(*gemm).hasBf16Operands() ? types.bf16 : types.float32) = true;
  }
  return types;
}

void PreparedGemm::run(const void *a, const void *b, void *c, char *workspace) {
  useOneThread();
  compute(a, b, c, workspace);
}

/// Null: it is of no use on this machine, or not wanted.
static Expected<std::unique_ptr<OneDnn>> openOneDnn() {
  const char *named = ::getenv("COLROW_ONEDNN");
  if (!sys::getHostCPUFeatures().lookup("avx512bf16") ||
      (named && StringRef(named) == "none"))
    return nullptr;
  auto library = OneDnn::open();
  if (library && !(*library)->multipliesBf16())
    return nullptr;
  return library;
}

Expected<std::unique_ptr<GemmLibraries>> GemmLibraries::open(GemmTypes types,
                                                             unsigned ranks) {
  std::unique_ptr<GemmLibraries> result(new GemmLibraries());
  Opened &opened = *result->opened;
  std::string bf16;
  if (types.bf16) {
    auto oneDnn = openOneDnn();
    if (!oneDnn)
      return oneDnn.takeError();
    opened.oneDnn = std::move(*oneDnn);
    bf16 = opened.oneDnn ? "bf16 by " + opened.oneDnn->description()
                         : "bf16 converted to float32";
  }
  if (types.float32 || (types.bf16 && !opened.oneDnn)) {
    auto blas = Blas::open(ranks);
    if (!blas)
      return blas.takeError();
    opened.blas = std::move(*blas);
    result->text = "float32 by " + opened.blas->description();
  }
  if (!bf16.empty())
    result->text += (result->text.empty() ? "" : "; ") + bf16;
  return result;
}

Expected<std::unique_ptr<PreparedGemm>>
GemmLibraries::prepare(const GemmShape &shape) const {
  if (opened->oneDnn && shape.hasBf16Operands())
    return opened->oneDnn->prepare(shape);
  return opened->blas->prepare(shape);
}

} // namespace colrow::runtime
