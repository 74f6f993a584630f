// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compileSharedObject: kernels in two halves, each on a thread and in contexts
// of its own, then one link. The halves depend on the input alone, so the
// bytes do not depend on the machine's threads.

#include "colrow/Kernel/Compile.h"
#include "EmitKernel.h"
#include "LowerModule.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <thread>

using namespace llvm;

namespace colrow::kernel {

using NamedKernel = std::pair<std::string, RowKernel>;

static Error checkInput(ArrayRef<NamedKernel> kernels) {
  StringSet<> seen;
  for (const auto &[symbol, kernel] : kernels) {
    bool isIdentifier =
        !symbol.empty() && !isDigit(symbol[0]) &&
        all_of(symbol, [](char c) { return isAlnum(c) || c == '_'; });
    if (!isIdentifier)
      return kernelError("symbol '" + symbol + "' is no C identifier");
    if (!seen.insert(symbol).second)
      return kernelError("symbol '" + symbol + "' stands for two kernels");
    if (Error error = verify(kernel))
      return joinErrors(kernelError("in '" + symbol + "'"), std::move(error));
  }
  return Error::success();
}

/// Compiles some kernels to one object.
static Expected<SmallVector<char, 0>>
compileObject(ArrayRef<const NamedKernel *> kernels, const Target &target,
              raw_ostream *irDump) {
  mlir::DialectRegistry registry;
  registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  for (const NamedKernel *kernel : kernels)
    emitKernel(*module, kernel->first, kernel->second, vectorLanes(target));
  if (irDump)
    module->print(*irDump);
  if (Error error = lowerModule(*module))
    return std::move(error);
  return assembleObject(*module, target);
}

/// Alternate kernels go to each half, the largest first, so that both take
/// about as long.
static std::array<SmallVector<const NamedKernel *>, 2>
splitInHalves(ArrayRef<NamedKernel> kernels) {
  SmallVector<std::pair<size_t, size_t>> order;
  for (auto [i, kernel] : enumerate(kernels))
    order.push_back({kernel.second.nodes.size(), i});
  // By falling size, then by place.
  sort(order, [](auto a, auto b) {
    return std::make_pair(b.first, a.second) <
           std::make_pair(a.first, b.second);
  });
  std::array<SmallVector<const NamedKernel *>, 2> halves;
  for (auto [i, entry] : enumerate(order))
    halves[(i ^ (i >> 1)) & 1].push_back(&kernels[entry.second]);
  return halves;
}

Expected<SmallVector<char, 0>>
compileSharedObject(ArrayRef<NamedKernel> kernels, const Target &target,
                    raw_ostream *irDump) {
  if (Error error = checkInput(kernels))
    return std::move(error);
  auto halves = splitInHalves(kernels);
  std::string dumps[2];
  SmallVector<char, 0> objects[2];
  Error errors[2] = {Error::success(), Error::success()};
  auto compileHalf = [&](unsigned half) {
    ErrorAsOutParameter asOut(errors[half]);
    raw_string_ostream dump(dumps[half]);
    auto object = compileObject(halves[half], target, irDump ? &dump : nullptr);
    if (object)
      objects[half] = std::move(*object);
    else
      errors[half] = object.takeError();
  };
  bool isSplit = !halves[1].empty();
  std::thread second;
  if (isSplit)
    second = std::thread(compileHalf, 1);
  compileHalf(0);
  if (isSplit)
    second.join();
  if (irDump)
    *irDump << dumps[0] << dumps[1];
  if (Error error = joinErrors(std::move(errors[0]), std::move(errors[1])))
    return std::move(error);
  return linkSharedObject(ArrayRef(objects, isSplit ? 2 : 1));
}

} // namespace colrow::kernel
