// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM IR of kernels to an object file, through a short pipeline: the vectors
// are there already, so loops need no more than cleaning.

#include "KernelSupport.h"
#include "LowerModule.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <mutex>

using namespace llvm;

namespace colrow::kernel {

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

Target hostTarget() {
  std::vector<std::string> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back("+" + feature.first().str());
  llvm::sort(features);
  return {sys::getDefaultTargetTriple(), sys::getHostCPUName().str(),
          join(features, ",")};
}

unsigned vectorLanes(const Target &target) {
  if (target.features.find("+avx512f") != std::string::npos)
    return 16;
  return target.features.find("+avx") != std::string::npos ? 8 : 4;
}

static Expected<std::unique_ptr<TargetMachine>>
createMachine(const Target &target) {
  initializeTargets();
  Triple triple(target.triple);
  std::string reason;
  const llvm::Target *found = TargetRegistry::lookupTarget(triple, reason);
  if (!found)
    return kernelError("no code generator for '" + target.triple +
                       "': " + reason);
  TargetOptions options;
  // As ordered by each operation's own flags, and no further.
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_,
      /*CM=*/std::nullopt, CodeGenOptLevel::Default));
  if (!machine)
    return kernelError("no code generator for '" + target.triple + "'");
  return std::move(machine);
}

/// What the code generator must know of every function: its machine, the
/// vectors to use, and that there is no library to call.
static void setAttributes(Module &module, const Target &target) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("no-builtins");
    function.addFnAttr(Attribute::NoUnwind);
    if (vectorLanes(target) == 16)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

static Error optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  // Totals leave memory; constants fold; what rows share moves out of them.
  if (Error error = builder.parsePassPipeline(
          passes, "function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
                  "loop-mssa(licm),early-cse)"))
    return error;
  passes.run(module, modules);
  return Error::success();
}

Expected<SmallVector<char, 0>> assembleObject(mlir::ModuleOp source,
                                              const Target &target) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(source, context, "kernels");
  if (!module)
    return kernelError("translation to LLVM IR failed");
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  module->setPICLevel(PICLevel::BigPIC);
  setAttributes(*module, target);
  if (Error error = optimize(*module, **machine))
    return std::move(error);
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, os, nullptr,
                                      CodeGenFileType::ObjectFile))
    return kernelError("the target writes no object files");
  codegen.run(*module);
  return object;
}

} // namespace colrow::kernel
