// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Affine numbers: arithmetic, attributes, text.

#include "colrow/dialects/Plan/Affine.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

static void trim(SmallVectorImpl<int64_t> &list) {
  while (!list.empty() && list.back() == 0)
    list.pop_back();
}

Affine::Affine(int64_t base, ArrayRef<int64_t> loops, ArrayRef<int64_t> coords)
    : base(base), loops(loops), coords(coords) {
  trim(this->loops);
  trim(this->coords);
}

static void addTo(SmallVectorImpl<int64_t> &sum, ArrayRef<int64_t> list) {
  sum.resize(std::max(sum.size(), list.size()));
  for (auto [i, value] : llvm::enumerate(list))
    sum[i] += value;
  trim(sum);
}

Affine Affine::operator+(const Affine &other) const {
  Affine sum = *this;
  sum.base += other.base;
  addTo(sum.loops, other.loops);
  addTo(sum.coords, other.coords);
  return sum;
}

llvm::hash_code planir::hash_value(const AffineList &list) {
  llvm::hash_code code(list.size());
  for (const Affine &a : list)
    code = llvm::hash_combine(
        code, a.base, llvm::hash_combine_range(a.loops.begin(), a.loops.end()),
        llvm::hash_combine_range(a.coords.begin(), a.coords.end()));
  return code;
}

Attribute planir::convertToAttribute(MLIRContext *context,
                                     const AffineList &list) {
  SmallVector<Attribute> entries;
  for (const Affine &a : list) {
    SmallVector<int64_t> flat = {a.base, int64_t(a.loops.size())};
    llvm::append_range(flat, a.loops);
    llvm::append_range(flat, a.coords);
    entries.push_back(DenseI64ArrayAttr::get(context, flat));
  }
  return ArrayAttr::get(context, entries);
}

LogicalResult planir::convertFromAttribute(
    AffineList &list, Attribute attribute,
    llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  list.clear();
  for (Attribute entry : array ? array.getValue() : ArrayRef<Attribute>()) {
    auto flat = dyn_cast<DenseI64ArrayAttr>(entry);
    if (!flat || flat.size() < 2 || flat[1] < 0 || flat[1] > flat.size() - 2) {
      array = nullptr;
      break;
    }
    ArrayRef<int64_t> rest = flat.asArrayRef().drop_front(2);
    list.emplace_back(flat[0], rest.take_front(flat[1]),
                      rest.drop_front(flat[1]));
  }
  if (array)
    return success();
  if (emitError)
    emitError() << "wanted lists [base, number of loops, loops..., coords...]";
  return failure();
}

void planir::printAffine(OpAsmPrinter &printer, const Affine &affine) {
  printer << '[';
  bool isFirst = affine.base == 0 && !affine.isConstant();
  if (!isFirst)
    printer << affine.base;
  auto printTerms = [&](ArrayRef<int64_t> list, char letter) {
    for (auto [i, factor] : llvm::enumerate(list))
      if (factor) {
        printer << (isFirst ? "" : " + ") << factor << " * " << letter << i;
        isFirst = false;
      }
  };
  printTerms(affine.loops, 'l');
  printTerms(affine.coords, 'c');
  printer << ']';
}

/// `l2` or `c0`: which list, and the place in it.
static ParseResult parseVariable(OpAsmParser &parser, bool &isLoop,
                                 unsigned &index) {
  SMLoc at = parser.getCurrentLocation();
  StringRef word;
  // Deeper nests and larger meshes do not exist.
  if (parser.parseKeyword(&word) || word.size() < 2 ||
      word.drop_front().getAsInteger(10, index) || index > 255 ||
      (word[0] != 'l' && word[0] != 'c'))
    return parser.emitError(at, "wanted the index of a loop, l0 for the "
                                "innermost one, or a coordinate of the rank, "
                                "c0 on mesh axis 0");
  isLoop = word[0] == 'l';
  return success();
}

static ParseResult parseTerm(OpAsmParser &parser, Affine &affine) {
  int64_t factor;
  if (parser.parseInteger(factor))
    return failure();
  if (failed(parser.parseOptionalStar())) {
    affine.base += factor;
    return success();
  }
  bool isLoop;
  unsigned index;
  if (parseVariable(parser, isLoop, index))
    return failure();
  auto &list = isLoop ? affine.loops : affine.coords;
  list.resize(std::max<size_t>(list.size(), index + 1));
  list[index] += factor;
  return success();
}

ParseResult planir::parseAffine(OpAsmParser &parser, Affine &affine) {
  return failure(parser.parseLSquare() || parseAffineBody(parser, affine));
}

ParseResult planir::parseAffineBody(OpAsmParser &parser, Affine &affine) {
  affine = Affine();
  do {
    if (parseTerm(parser, affine))
      return failure();
  } while (succeeded(parser.parseOptionalPlus()));
  trim(affine.loops);
  trim(affine.coords);
  return parser.parseRSquare();
}
