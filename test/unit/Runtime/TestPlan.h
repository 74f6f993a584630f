// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds small plans in memory for the runtime's tests.

#ifndef COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H
#define COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H

#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace colrow::runtime::test {

using plan::Region;

/// An address of a plan under construction. Without `handle`, offset counts
/// from the region's start: the buffer is the one that stands there, or one of
/// bytes that covers the region.
struct At {
  Region region = Region::scratch;
  uint64_t offset = 0;
  std::vector<int64_t> strides = {}; // innermost first
  std::vector<int64_t> coords = {};
  int handle = -1; // of TestPlan::buffer()
};

struct FactorSpec {
  int64_t size, padded;
  std::vector<uint8_t> axes = {};
};
using DimSpec = std::vector<FactorSpec>;

struct SourceSpec {
  std::string name;
  std::vector<int64_t> fileShape, reshape, start, step, size;
  std::vector<uint8_t> perm;
};

struct ParameterSpec {
  std::string name;
  uint32_t id = 0;
  std::vector<int64_t> shape;
  std::vector<DimSpec> dims = {}; // empty: not split
  std::vector<SourceSpec> sources = {};
  plan::InitKind init = plan::InitKind::normal;
  double mean = 0, std = 0.02;
  int stateOf = -1;
  std::string stateName = "";
  plan::DType dtype = plan::DType::f32;
  bool master = false;
};

struct CollectiveSpec {
  plan::CollectiveKind kind;
  plan::Reduction reduction = plan::Reduction::none;
  std::vector<uint8_t> axes = {0};
  int64_t count = 0, outer = 0, block = 0, total = 0;
  At src = {}, dst = {};
  plan::DType dtype = plan::DType::f32;
  uint64_t payload = 0;
};

struct InputSpec {
  std::string name, role;
  std::vector<int64_t> shape;
  int64_t low = 0, high = 0, padding = 0;
  plan::DType dtype = plan::DType::i32;
  std::vector<DimSpec> dims = {}; // empty: not split
  int batchDim = 0;
};

struct OutputSpec {
  std::string name, role;
  std::vector<int64_t> shape;
  std::vector<DimSpec> dims = {};
  At src = {};
  int parameter = -1;
  plan::DType dtype = plan::DType::f32;
};

/// Collects the tables of a plan with one program, "train"; more by next().
class TestPlan {
public:
  std::vector<std::pair<std::string, unsigned>> mesh = {{"tp", 1}};
  /// Of the last program; grow where buffers need it.
  uint64_t persistentBytes = 0, scratchBytes = 64;
  std::vector<ParameterSpec> parameters;
  std::vector<uint8_t> constants, object;
  std::string config, features;
  uint64_t fingerprint = 7;
  uint8_t stream = 0, phase = 0; // of the instructions that follow

  TestPlan();
  /// Starts another program, for `ranks` (empty: all).
  void next(const std::string &name, std::vector<uint32_t> ranks = {});

  /// A buffer of its own at `offset` of its region (by default behind the last
  /// one there); the region grows.
  At buffer(Region region, uint64_t bytes, plan::DType dtype,
            int64_t offset = -1);
  At input(const InputSpec &spec);
  void output(const OutputSpec &spec);

  void gemm(int64_t m, int64_t n, int64_t k, At a, At b, At c, float beta = 0,
            bool transA = false, bool transB = false);
  void copy(At src, At dst, uint64_t bytes);
  void fill(At dst, uint64_t bytes, uint8_t value);
  void loop(int64_t trips, uint32_t body);
  void collective(const CollectiveSpec &spec);
  /// Adds the kernel to the table when it is new. Arguments in persistent are
  /// accumulated into, those in scratch written, others read.
  void
  launch(const std::string &symbol, const std::vector<At> &args,
         const std::vector<uint64_t> &bytes,
         const std::vector<std::pair<int64_t, std::vector<int64_t>>> &ints);
  void record(uint32_t event);
  void wait(uint32_t event);
  /// Appends a parameter with a buffer of its own. The mesh must be set before.
  ParameterSpec &add(ParameterSpec parameter);
  /// Where the block of parameter `index` stands.
  At parameter(unsigned index) const;

  /// The tables as they are packed.
  plan::PlanT build();
  std::vector<uint8_t> table();
  /// The bytes of a plan file.
  std::vector<uint8_t> file();
  /// A checked plan, for tests that expect none to fail.
  LoadedPlan load();

private:
  plan::ProgramT &program() { return *tables.programs.back(); }
  plan::BufferT &bufferAt(int handle);
  std::unique_ptr<plan::OperandT> operand(const At &at);
  plan::DType typeAt(const At &at);
  template <typename T> void add(T op, const std::string &name);

  plan::PlanT tables;
  std::vector<At> blocks; // of parameters
};

/// A finished table. `everyField`: defaults are written too, and no two tables
/// share what says where their fields are.
std::vector<uint8_t> packed(const plan::PlanT &plan, bool everyField = false);

/// Header and table, as a plan file holds them.
std::vector<uint8_t> planFile(const std::vector<uint8_t> &table);

/// What reading its file says; empty when it is right.
std::string faultOf(const plan::PlanT &plan);
/// Its file, read.
LoadedPlan loaded(const plan::PlanT &plan);

/// The object of Kernels.c.
std::vector<uint8_t> testKernels();

/// The toy training step of Kernels.c for `ranks` ranks: parameter w [vocab],
/// momentum m as its state, batch 2, seq 3, loss summed over ranks.
TestPlan toyPlan(unsigned ranks, int64_t vocab);

/// An empty folder that is removed at the end.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, llvm::StringRef text);
inline llvm::StringRef textOfBytes(const std::vector<uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// All bytes of a tensor.
std::vector<char> dataOf(const SafetensorsFile &file, const TensorInfo &tensor);

/// Text of an error; empty for success.
inline std::string textOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : std::string();
}
template <typename T> std::string textOf(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}
/// The value, or a test failure that ends the process.
template <typename T> T take(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError());
    std::exit(1);
  }
  return std::move(*value);
}

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace colrow::runtime::test

#endif // COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H
