// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory as cells, and instructions one after another.

#include "PlanInterpreter.h"
#include "KernelInterpreter.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

static int64_t elementBytesOf(Value buffer) {
  return elementBytes(cast<BufferType>(buffer.getType()).getElementType());
}

static std::vector<double> elementsOf(ElementsAttr value) {
  std::vector<double> elements;
  if (isa<FloatType>(value.getElementType()))
    for (APFloat x : value.getValues<APFloat>())
      elements.push_back(x.convertToDouble());
  else
    for (APInt x : value.getValues<APInt>())
      elements.push_back(double(x.getSExtValue()));
  return elements;
}

/// Elements one behind the other from the first cell on.
static void put(std::vector<double> &cells, ArrayRef<double> elements,
                int64_t bytes) {
  for (auto [i, element] : llvm::enumerate(elements))
    cells[i * bytes] = element;
}

llvm::Expected<PlanInterpreter>
PlanInterpreter::create(ModuleOp module, const runtime::ScalarBlock &scalars) {
  PlanInterpreter made;
  made.module = module;
  made.program = *module.getOps<ProgramOp>().begin();
  made.scalars = scalars;
  for (auto op : module.getOps<KernelOp>()) {
    auto kernel = kernel::parseKernel(op.getText().value_or(""));
    if (!kernel)
      return kernel.takeError();
    made.kernels.try_emplace(op.getSymNameAttr(), std::move(*kernel));
  }
  llvm::Error error = llvm::Error::success();
  made.program.getBody().walk([&](Operation *op) {
    error = made.prepare(*op);
    return error ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (error)
    return std::move(error);
  return made;
}

llvm::Error PlanInterpreter::prepare(Operation &op) {
  auto allocate = [&](Value buffer, int64_t bytes) -> Cells & {
    return memory[buffer] = Cells(bytes);
  };
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](BufferOp op) { allocate(op, op.getBytes()); })
      .Case([&](InputOp op) {
        allocate(op, op.getBytes());
        inputs.try_emplace(op.getName(), op);
      })
      .Case([&](OutputOp op) { outputs.try_emplace(op.getName(), op); })
      .Case([&](ScalarsOp op) {
        setScalars(allocate(op, sizeof(runtime::ScalarBlock)), scalars);
      })
      .Case([&](GlobalOp op) {
        Operation *symbol = module.lookupSymbol(op.getSymbolAttr());
        if (auto constant = dyn_cast<ConstantOp>(symbol)) {
          std::vector<double> values = elementsOf(constant.getValue());
          int64_t bytes = elementBytesOf(op);
          put(allocate(op, values.size() * bytes), values, bytes);
        }
      });
  if (isa<LoopOp, NextOp, EndOp, BufferOp, InputOp, OutputOp, ScalarsOp, GemmOp,
          LaunchOp, CopyOp, RecordOp, WaitOp>(op))
    return llvm::Error::success();
  if (auto global = dyn_cast<GlobalOp>(op); global && memory.contains(global))
    return llvm::Error::success();
  if (auto fill = dyn_cast<FillOp>(op); fill && fill.getValue() == 0)
    return llvm::Error::success();
  return llvm::createStringError("the interpreter of plan IR does not know " +
                                 op.getName().getStringRef().str());
}

void PlanInterpreter::setScalars(Cells &cells,
                                 const runtime::ScalarBlock &scalars) {
  cells[offsetof(runtime::ScalarBlock, learningRate)] = scalars.learningRate;
  cells[offsetof(runtime::ScalarBlock, bias1)] = scalars.bias1;
  cells[offsetof(runtime::ScalarBlock, bias2)] = scalars.bias2;
  cells[offsetof(runtime::ScalarBlock, seed)] = double(scalars.seed);
  cells[offsetof(runtime::ScalarBlock, step)] = double(scalars.step);
}

void PlanInterpreter::set(StringRef input, ArrayRef<double> elements) {
  InputOp op = inputs.lookup(input);
  put(memory[op], elements, elementBytesOf(op));
}

std::vector<double> PlanInterpreter::get(StringRef output) const {
  OutputOp op = outputs.lookup(output);
  const Cells &cells = memory.find(op.getSource())->second;
  int64_t bytes = elementBytesOf(op.getSource());
  int64_t count = cast<RankedTensorType>(op.getWhole()).getNumElements();
  std::vector<double> elements(count);
  for (int64_t i = 0; i < count; ++i)
    elements[i] = cells[evaluate(op.getAddresses()[0]) + i * bytes];
  return elements;
}

void PlanInterpreter::run() {
  for (Block &phase : program.getBody())
    run(phase);
}

void PlanInterpreter::run(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op)
        .Case<GemmOp, LaunchOp, CopyOp>([&](auto op) { run(op); })
        .Case([&](FillOp op) {
          double *first = at(op.getTarget(), op.getAddresses()[0]);
          std::fill(first, first + op.getBytes(), 0.0);
        })
        .Case([&](LoopOp op) {
          loops.push_back(0);
          for (; loops.back() < op.getTrips(); ++loops.back())
            run(op.getBody().front());
          loops.pop_back();
        });
}

void PlanInterpreter::run(GemmOp op) {
  int64_t bytes[3];
  double *first[3];
  for (auto [i, buffer] : llvm::enumerate(op->getOperands())) {
    bytes[i] = elementBytesOf(buffer);
    first[i] = at(buffer, op.getAddresses()[i]);
  }
  auto element = [&](unsigned i, int64_t row, int64_t col, int64_t ld,
                     bool transposed) -> double & {
    return first[i][(transposed ? col * ld + row : row * ld + col) * bytes[i]];
  };
  double alpha = op.getAlpha().convertToFloat();
  double beta = op.getBeta().convertToFloat();
  for (int64_t row = 0; row < op.getM(); ++row)
    for (int64_t col = 0; col < op.getN(); ++col) {
      double sum = 0;
      for (int64_t k = 0; k < op.getK(); ++k)
        sum += element(0, row, k, op.getLda(), op.getTransA()) *
               element(1, k, col, op.getLdb(), op.getTransB());
      double &out = element(2, row, col, op.getLdc(), false);
      out = alpha * sum + (beta == 0 ? 0 : beta * out);
    }
}

void PlanInterpreter::run(LaunchOp op) {
  SmallVector<double *> first;
  SmallVector<int64_t> ints;
  for (auto [buffer, address] :
       llvm::zip_equal(op.getArgs(), op.getAddresses()))
    first.push_back(at(buffer, address));
  const kernel::RowKernel &kernel =
      kernels.find(op.getKernelAttr().getAttr())->second;
  for (const Affine &number : op.getInts())
    ints.push_back(evaluate(number));
  kernel::interpret(kernel, ints,
                    [&](unsigned arg, int64_t element) -> double & {
                      int64_t size = kernel::elemBytes(kernel.args[arg].elem);
                      return first[arg][element * size];
                    });
}

void PlanInterpreter::run(CopyOp op) {
  double *from = at(op.getSource(), op.getAddresses()[0]);
  std::copy(from, from + op.getBytes(),
            at(op.getTarget(), op.getAddresses()[1]));
}

/// On one rank all coordinates are 0.
int64_t PlanInterpreter::evaluate(const Affine &affine) const {
  int64_t sum = affine.base;
  for (auto [i, step] : llvm::enumerate(affine.loops))
    sum += step * loops[loops.size() - 1 - i];
  return sum;
}

double *PlanInterpreter::at(Value buffer, const Affine &address) {
  return memory.find(buffer)->second.data() + evaluate(address);
}
