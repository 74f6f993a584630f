// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of instructions: loops that nest, phases that do not fall. Single
// operations are checked in CheckOps.cpp, what several do to each other in
// CheckLives.cpp and CheckOrder.cpp.

#include "Check.h"

using namespace llvm;

namespace colrow::runtime {

namespace {

/// Bounds the instructions that one run of a program can execute.
constexpr int64_t maxIterations = int64_t(1) << 32;

class InstructionChecker {
public:
  explicit InstructionChecker(CheckedProgram &program) : program(program) {}

  Error checkBody(uint32_t begin, uint32_t end, int around, int64_t iterations);
  /// The instruction that an error is about.
  uint32_t current = 0;

private:
  Error checkLoop(const plan::Loop &loop, uint32_t end, int64_t iterations);
  Error checkHead(const plan::Instruction &instruction);

  CheckedProgram &program;
  SmallVector<int64_t, maxLoopDepth> trips; // of loops around, innermost first
  uint8_t phase = 0;
};

} // namespace

Error InstructionChecker::checkHead(const plan::Instruction &instruction) {
  if (instruction.op_type() == plan::Op::NONE || !instruction.op())
    return failure("has no operation");
  size_t phases = lengthOf(program.program.phases());
  if (instruction.phase() >= phases || instruction.phase() < phase)
    return failure("is of phase {0} of {1}, behind one of phase {2}",
                   unsigned(instruction.phase()), phases, unsigned(phase));
  phase = instruction.phase();
  return Error::success();
}

Error InstructionChecker::checkLoop(const plan::Loop &loop, uint32_t end,
                                    int64_t iterations) {
  uint32_t left = end - current - 1;
  if (program.program.instructions()->Get(current)->stream() != 0)
    return failure("is a loop on a stream other than 0");
  if (trips.size() == maxLoopDepth)
    return failure("loops are nested deeper than {0}", maxLoopDepth);
  if (loop.trips() < 1 || loop.trips() > maxIterations / iterations)
    return failure("loop of {0} trips", loop.trips());
  if (loop.body() < 1 || loop.body() > left)
    return failure("loop over {0} instructions where {1} follow", loop.body(),
                   left);
  return Error::success();
}

/// Instructions [begin, end), directly in loop `around`.
Error InstructionChecker::checkBody(uint32_t begin, uint32_t end, int around,
                                    int64_t iterations) {
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Instruction &instruction =
        *program.program.instructions()->Get(i);
    current = i;
    program.loopOf.push_back(around);
    if (Error error = checkHead(instruction))
      return error;
    const plan::Loop *loop = instruction.op_as_Loop();
    if (!loop) {
      if (Error error = checkOp(program, trips, i))
        return error;
      continue;
    }
    if (Error error = checkLoop(*loop, end, iterations))
      return error;
    uint32_t bodyEnd = i + 1 + loop->body();
    program.loops.push_back({around, i, bodyEnd, loop->trips()});
    trips.insert(trips.begin(), loop->trips());
    if (Error error = checkBody(i + 1, bodyEnd, int(program.loops.size()) - 1,
                                iterations * loop->trips()))
      return error;
    trips.erase(trips.begin());
    i = bodyEnd - 1;
  }
  return Error::success();
}

std::optional<PlanFault> checkInstructions(CheckedProgram &program) {
  InstructionChecker checker(program);
  program.loopOf.reserve(program.instructionCount());
  if (Error error = checker.checkBody(0, program.instructionCount(), -1, 1))
    return PlanFault{-1, int(checker.current), toString(std::move(error))};
  return std::nullopt;
}

} // namespace colrow::runtime
