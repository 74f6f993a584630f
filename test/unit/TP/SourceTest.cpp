// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of tensors in files: which of them have an element in common.

#include "colrow/dialects/TP/TP.h"
#include "gtest/gtest.h"
#include <set>

using namespace colrow;

namespace {

struct Part {
  int64_t start, step, size;

  std::set<int64_t> elements() const {
    std::set<int64_t> result;
    for (int64_t i = 0; i < size; ++i)
      result.insert(start + i * step);
    return result;
  }
};

/// Every part of a dimension of `length`.
std::vector<Part> allParts(int64_t length) {
  std::vector<Part> parts;
  for (int64_t start = 0; start < length; ++start)
    for (int64_t step = 1; step <= length; ++step)
      for (int64_t size = 1; start + (size - 1) * step < length; ++size)
        parts.push_back({start, step, size});
  return parts;
}

bool share(const Part &a, const Part &b) {
  std::set<int64_t> other = b.elements();
  for (int64_t element : a.elements())
    if (other.count(element))
      return true;
  return false;
}

class Source : public testing::Test {
protected:
  Source() { context.loadDialect<tp::TPDialect>(); }

  /// Part `rows` of the rows and `columns` of the columns of "w", 8 x 3.
  tp::SourceAttr source(Part rows, Part columns = {0, 1, 3},
                        llvm::StringRef name = "w") {
    return tp::SourceAttr::get(
        &context, name, {8, 3}, {8, 3}, {rows.start, columns.start},
        {rows.step, columns.step}, {rows.size, columns.size}, {0, 1});
  }

  mlir::MLIRContext context;
};

} // namespace

TEST_F(Source, PartsOverlapWhereTheyShareAnElement) {
  std::vector<Part> parts = allParts(8);
  std::vector<tp::SourceAttr> sources;
  sources.reserve(parts.size());
  for (const Part &part : parts)
    sources.push_back(source(part));
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = 0; j < parts.size(); ++j)
      ASSERT_EQ(tp::overlap(sources[i], sources[j]), share(parts[i], parts[j]))
          << parts[i].start << " step " << parts[i].step << " size "
          << parts[i].size << " and " << parts[j].start << " step "
          << parts[j].step << " size " << parts[j].size;
}

/// In every dimension, and of one tensor in one shape.
TEST_F(Source, PartsApartInOneDimensionAreApart) {
  Part rows{1, 2, 3}, even{0, 2, 4}, first{0, 1, 1}, others{1, 1, 2};
  EXPECT_TRUE(tp::overlap(source(rows, first), source(rows, first)));
  EXPECT_FALSE(tp::overlap(source(rows, first), source(rows, others)));
  EXPECT_FALSE(tp::overlap(source(rows, first), source(even, first)));
  EXPECT_FALSE(tp::overlap(source(rows, first, "v"), source(rows, first)));
  auto flat =
      tp::SourceAttr::get(&context, "w", {8, 3}, {24}, {0}, {1}, {24}, {0});
  EXPECT_FALSE(tp::overlap(flat, source(rows)));
}
