// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is called of oneDNN's C interface, found at run time.

#ifndef COLROW_RUNTIME_LIBRARIES_ONEDNNFUNCTIONS_H
#define COLROW_RUNTIME_LIBRARIES_ONEDNNFUNCTIONS_H

#include "Library.h"
#include "oneapi/dnnl/dnnl.h"
#include <memory>

static_assert(DNNL_VERSION_MAJOR == 2, "written for the interface of oneDNN 2");

namespace colrow::runtime {

#define COLROW_ONEDNN_FUNCTIONS(X)                                             \
  X(version)                                                                   \
  X(get_effective_cpu_isa)                                                     \
  X(engine_create)                                                             \
  X(engine_destroy)                                                            \
  X(stream_create)                                                             \
  X(stream_destroy)                                                            \
  X(memory_desc_init_by_strides)                                               \
  X(memory_desc_get_size)                                                      \
  X(memory_create)                                                             \
  X(memory_destroy)                                                            \
  X(memory_set_data_handle)                                                    \
  X(matmul_desc_init)                                                          \
  X(post_ops_create)                                                           \
  X(post_ops_append_sum)                                                       \
  X(post_ops_destroy)                                                          \
  X(primitive_attr_create)                                                     \
  X(primitive_attr_set_scratchpad_mode)                                        \
  X(primitive_attr_set_output_scales)                                          \
  X(primitive_attr_set_post_ops)                                               \
  X(primitive_attr_destroy)                                                    \
  X(primitive_desc_create)                                                     \
  X(primitive_desc_query_md)                                                   \
  X(primitive_desc_destroy)                                                    \
  X(primitive_create)                                                          \
  X(primitive_execute)                                                         \
  X(primitive_destroy)

/// dnnl_version is `version`, and so on.
struct OneDnnFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares `name`
#define X(name) decltype(&dnnl_##name) name = nullptr;
  COLROW_ONEDNN_FUNCTIONS(X)
#undef X

  /// Null, or the first function that the library lacks.
  const char *findIn(Library &library) {
#define X(name)                                                                \
  if (!library.find("dnnl_" #name, name))                                      \
    return "dnnl_" #name;
    COLROW_ONEDNN_FUNCTIONS(X)
#undef X
    return nullptr;
  }
};

/// An object of oneDNN's that destroys itself.
template <typename T>
using OneDnnHandle = std::unique_ptr<T, dnnl_status_t (*)(T *)>;

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_ONEDNNFUNCTIONS_H
