// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of libraries share.

#ifndef COLROW_TEST_UNIT_LIBRARIES_LIBRARIESTEST_H
#define COLROW_TEST_UNIT_LIBRARIES_LIBRARIESTEST_H

#include "colrow/runtime/Libraries/GemmLibraries.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace colrow::runtime::test {

/// A variable of the environment, as it was before at the end.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    const char *old = ::getenv(name);
    was = old ? old : "";
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() {
    was.empty() ? ::unsetenv(name) : ::setenv(name, was.c_str(), 1);
  }

private:
  const char *name;
  std::string was;
};

template <typename T> T take(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError());
    std::exit(1);
  }
  return std::move(*value);
}

/// `convert`: bf16 by float32, whatever the CPU has.
inline std::unique_ptr<GemmLibraries> open(GemmTypes types,
                                           bool convert = false) {
  std::optional<Variable> none;
  if (convert)
    none.emplace("COLROW_ONEDNN", "none");
  return take(GemmLibraries::open(types, /*ranks=*/2));
}

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE(llvm::StringRef(text).find(part), llvm::StringRef::npos) << (text)
#define EXPECT_LACKS(text, part)                                               \
  EXPECT_EQ(llvm::StringRef(text).find(part), llvm::StringRef::npos) << (text)
#define EXPECT_STARTS(text, part)                                              \
  EXPECT_PRED2(startsWith, std::string(text), std::string(part))

inline bool startsWith(const std::string &text, const std::string &part) {
  return llvm::StringRef(text).starts_with(part);
}

struct alignas(64) Line {
  char bytes[64];
};

} // namespace colrow::runtime::test

#endif // COLROW_TEST_UNIT_LIBRARIES_LIBRARIESTEST_H
