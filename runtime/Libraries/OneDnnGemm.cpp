// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by oneDNN's matmul.

#include "OneDnn.h"
#include "OneThread.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace colrow::runtime {

// A call of oneDNN in a function that returns its status.
#define TRY(call)                                                              \
  if (dnnl_status_t status = (call); status != dnnl_success)                   \
  return status

static constexpr int roles[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                DNNL_ARG_SCRATCHPAD};

namespace {
class OneDnnGemm : public PreparedGemm {
public:
  OneDnnGemm(const OneDnnFunctions &f, dnnl_engine_t engine)
      : f(f), engine(engine) {}

  /// Not a success: this must not be used.
  dnnl_status_t make(const GemmShape &shape);

private:
  template <typename T> using Handle = OneDnnHandle<T>;
  static constexpr size_t operands = std::size(roles);

  dnnl_status_t describeFactors(const GemmShape &shape,
                                dnnl_primitive_attr_t attributes);
  dnnl_status_t makePrimitive(const GemmShape &shape,
                              const dnnl_memory_desc_t *matrices);
  dnnl_status_t addMemory(const dnnl_memory_desc_t &matrix);
  void compute(const void *a, const void *b, void *c, char *workspace) override;

  const OneDnnFunctions &f;
  dnnl_engine_t engine;
  Handle<dnnl_stream> stream{nullptr, f.stream_destroy};
  Handle<dnnl_primitive_desc> description{nullptr, f.primitive_desc_destroy};
  Handle<dnnl_primitive> primitive{nullptr, f.primitive_destroy};
  SmallVector<Handle<dnnl_memory>, operands> memories; // in order of roles
  dnnl_exec_arg_t arguments[operands] = {};
};
} // namespace

static dnnl_data_type_t typeOf(plan::DType type) {
  return type == plan::DType::bf16 ? dnnl_bf16 : dnnl_f32;
}

/// alpha and beta.
dnnl_status_t OneDnnGemm::describeFactors(const GemmShape &shape,
                                          dnnl_primitive_attr_t attributes) {
  TRY(f.primitive_attr_set_scratchpad_mode(attributes,
                                           dnnl_scratchpad_mode_user));
  if (shape.alpha != 1)
    TRY(f.primitive_attr_set_output_scales(attributes, 1, 0, &shape.alpha));
  if (shape.beta == 0)
    return dnnl_success;
  dnnl_post_ops_t created;
  TRY(f.post_ops_create(&created));
  Handle<dnnl_post_ops> operations(created, f.post_ops_destroy);
  TRY(f.post_ops_append_sum(created, shape.beta));
  return f.primitive_attr_set_post_ops(attributes, created);
}

dnnl_status_t OneDnnGemm::makePrimitive(const GemmShape &shape,
                                        const dnnl_memory_desc_t *matrices) {
  dnnl_primitive_attr_t attributes;
  TRY(f.primitive_attr_create(&attributes));
  Handle<dnnl_primitive_attr> destroyed(attributes, f.primitive_attr_destroy);
  TRY(describeFactors(shape, attributes));
  dnnl_matmul_desc_t operation;
  TRY(f.matmul_desc_init(&operation, &matrices[0], &matrices[1],
                         /*bias=*/nullptr, &matrices[2]));
  dnnl_primitive_desc_t described;
  TRY(f.primitive_desc_create(&described, &operation, attributes, engine,
                              /*hint=*/nullptr));
  description.reset(described);
  dnnl_primitive_t made;
  TRY(f.primitive_create(&made, described));
  primitive.reset(made);
  return dnnl_success;
}

dnnl_status_t OneDnnGemm::addMemory(const dnnl_memory_desc_t &matrix) {
  dnnl_memory_t memory;
  TRY(f.memory_create(&memory, &matrix, engine, DNNL_MEMORY_NONE));
  arguments[memories.size()] = {roles[memories.size()], memory};
  memories.emplace_back(memory, f.memory_destroy);
  return dnnl_success;
}

dnnl_status_t OneDnnGemm::make(const GemmShape &s) {
  dnnl_stream_t made;
  TRY(f.stream_create(&made, engine, dnnl_stream_default_flags));
  stream.reset(made);
  dnnl_memory_desc_t matrices[3];
  auto describe = [&](dnnl_memory_desc_t &matrix, dnnl_dim_t rows,
                      dnnl_dim_t columns, dnnl_dim_t ld, bool transposed,
                      plan::DType type) {
    dnnl_dims_t sizes = {rows, columns};
    dnnl_dims_t strides = {transposed ? 1 : ld, transposed ? ld : 1};
    return f.memory_desc_init_by_strides(&matrix, 2, sizes, typeOf(type),
                                         strides);
  };
  TRY(describe(matrices[0], s.m, s.k, s.lda, s.transA, s.aType));
  TRY(describe(matrices[1], s.k, s.n, s.ldb, s.transB, s.bType));
  TRY(describe(matrices[2], s.m, s.n, s.ldc, false, s.cType));
  TRY(makePrimitive(s, matrices));
  for (const dnnl_memory_desc_t &matrix : matrices)
    TRY(addMemory(matrix));
  const dnnl_memory_desc_t *scratchpad =
      f.primitive_desc_query_md(description.get(), dnnl_query_scratchpad_md, 0);
  workspace = f.memory_desc_get_size(scratchpad);
  return addMemory(*scratchpad);
}

#undef TRY

void OneDnnGemm::compute(const void *a, const void *b, void *c,
                         char *workspace) {
  void *starts[] = {const_cast<void *>(a), const_cast<void *>(b), c, workspace};
  dnnl_status_t status = dnnl_success;
  for (size_t i = 0; i < operands && status == dnnl_success; ++i)
    status = f.memory_set_data_handle(arguments[i].memory, starts[i]);
  if (status == dnnl_success)
    status =
        f.primitive_execute(primitive.get(), stream.get(), operands, arguments);
  if (status != dnnl_success) // all that can be refused was, when it was made
    report_fatal_error("oneDNN failed in a matrix product",
                       /*gen_crash_diag=*/false);
}

Expected<std::unique_ptr<PreparedGemm>>
OneDnn::prepare(const GemmShape &shape) const {
  useOneThread();
  auto gemm = std::make_unique<OneDnnGemm>(f, engine.get());
  dnnl_status_t status = gemm->make(shape);
  if (status == dnnl_success)
    return gemm;
  return failure("oneDNN cannot prepare a product of {0}x{1} and {2}x{3}: {4}",
                 shape.m, shape.k, shape.k, shape.n,
                 status == dnnl_out_of_memory ? "out of memory"
                                              : "it has no code for it");
}

} // namespace colrow::runtime
