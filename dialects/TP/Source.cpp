// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a parameter's first values come from. tp.init: syntax. tp.source:
// syntax, in which parts that change nothing are left out, checks, and what the
// sources of one parameter take from a checkpoint.

#include "colrow/dialects/TP/TP.h"
#include <numeric>

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  double mean = 0, std = 0;
  SMLoc loc;
  if (parser.parseLess() || (loc = parser.getCurrentLocation(), false) ||
      parser.parseKeyword(&name))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(name);
  if (!kind) {
    parser.emitError(loc) << "expected zeros, ones, constant or normal";
    return {};
  }
  bool isNormal = *kind == InitKind::Normal;
  if ((isNormal || *kind == InitKind::Constant) && parser.parseFloat(mean))
    return {};
  if (isNormal && (parser.parseComma() || parser.parseFloat(std)))
    return {};
  if (parser.parseGreater())
    return {};
  Type f64 = parser.getBuilder().getF64Type();
  return parser.getChecked<InitAttr>(parser.getContext(), *kind,
                                     FloatAttr::get(f64, mean),
                                     FloatAttr::get(f64, std));
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitKind, FloatAttr mean, FloatAttr std) {
  // C1
  double centre = mean.getValueAsDouble(), spread = std.getValueAsDouble();
  if (!tp::detail::isFinite(centre) || !tp::detail::isNotNegative(spread))
    return emitError() << "initial values of mean " << centre
                       << " and deviation " << spread
                       << "; both must be finite in float32, and the deviation "
                          "at least 0";
  return success();
}

InitAttr InitAttr::get(MLIRContext *context, InitKind kind, double mean,
                       double std) {
  auto number = [&](double x) {
    return FloatAttr::get(Float64Type::get(context), x);
  };
  return get(context, kind, number(mean), number(std));
}

void InitAttr::print(AsmPrinter &printer) const {
  bool isNormal = getKind() == InitKind::Normal;
  printer << '<' << stringifyInitKind(getKind());
  if (isNormal || getKind() == InitKind::Constant)
    printer << ' ' << getMean().getValue();
  if (isNormal)
    printer << ", " << getStd().getValue();
  printer << '>';
}

LogicalResult SourceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> reshape,
                                 ArrayRef<int64_t> start,
                                 ArrayRef<int64_t> step, ArrayRef<int64_t> size,
                                 ArrayRef<int64_t> perm) {
  auto error = [&] { return emitError() << "source \"" << name << "\": "; };
  // C5
  auto fits = [](ArrayRef<int64_t> dims) {
    uint64_t n = 1;
    for (int64_t dim : dims)
      if (dim < 1 || (n = llvm::SaturatingMultiply<uint64_t>(n, dim)) >
                         layout::maxElements)
        return false;
    return true;
  };
  if (name.empty())
    return emitError() << "a source has no name";
  if (!fits(shape) || !fits(reshape))
    return error() << "its sizes are not positive, or make more than 2^46 "
                      "elements";
  // C1
  auto product = [](ArrayRef<int64_t> dims) {
    return ShapedType::getNumElements(dims);
  };
  if (product(shape) != product(reshape))
    return error() << "a tensor of " << product(shape)
                   << " elements cannot be reshaped to " << product(reshape);
  // C2
  size_t rank = reshape.size();
  if (start.size() != rank || step.size() != rank || size.size() != rank ||
      perm.size() != rank)
    return error() << "from, step, size and perm need " << rank << " entries";
  for (size_t i = 0; i < rank; ++i) {
    // C3
    if (step[i] < 1 || size[i] < 1 || start[i] < 0 || start[i] >= reshape[i] ||
        size[i] - 1 > (reshape[i] - 1 - start[i]) / step[i])
      return error() << "slice " << i << " leaves its dimension of "
                     << reshape[i];
    // C4
    if (perm[i] < 0 || perm[i] >= int64_t(rank) ||
        llvm::count(perm, perm[i]) != 1)
      return error() << "perm is not a permutation";
  }
  return success();
}

using Numbers = SmallVector<int64_t>;

/// What the parts of a source are when they change nothing.
namespace {
struct Identity {
  explicit Identity(ArrayRef<int64_t> dims)
      : start(dims.size(), 0), step(dims.size(), 1), size(dims),
        perm(dims.size()) {
    std::iota(perm.begin(), perm.end(), 0);
  }
  Numbers start, step, size, perm;
};
} // namespace

static ParseResult parseNumbers(AsmParser &parser, Numbers &numbers) {
  numbers.clear();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(numbers.emplace_back());
  });
}

/// `keyword [numbers]`, or nothing, which leaves `numbers` as they are.
static ParseResult parsePart(AsmParser &parser, StringRef keyword,
                             Numbers &numbers) {
  return succeeded(parser.parseOptionalKeyword(keyword))
             ? parseNumbers(parser, numbers)
             : ParseResult(success());
}

Attribute SourceAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  std::string name;
  Numbers shape;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseColon() ||
      parseNumbers(parser, shape))
    return {};
  Numbers reshape = shape;
  if (parsePart(parser, "as", reshape))
    return {};
  Identity parts(reshape);
  if (parsePart(parser, "from", parts.start) ||
      parsePart(parser, "step", parts.step) ||
      parsePart(parser, "size", parts.size) ||
      parsePart(parser, "perm", parts.perm) || parser.parseGreater())
    return {};
  return SourceAttr::getChecked([&] { return parser.emitError(start); },
                                parser.getContext(), StringRef(name),
                                ArrayRef(shape), ArrayRef(reshape),
                                ArrayRef(parts.start), ArrayRef(parts.step),
                                ArrayRef(parts.size), ArrayRef(parts.perm));
}

void SourceAttr::print(AsmPrinter &printer) const {
  auto numbers = [&](ArrayRef<int64_t> list) {
    printer << '[';
    llvm::interleaveComma(list, printer);
    printer << ']';
  };
  auto part = [&](StringRef keyword, ArrayRef<int64_t> list,
                  ArrayRef<int64_t> identity) {
    if (list == identity)
      return;
    printer << ' ' << keyword << ' ';
    numbers(list);
  };
  printer << '<';
  printer.printString(getName());
  printer << " : ";
  numbers(getShape());
  part("as", getReshape(), getShape());
  Identity identity(getReshape());
  part("from", getStart(), identity.start);
  part("step", getStep(), identity.step);
  part("size", getSize(), identity.size);
  part("perm", getPerm(), identity.perm);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Several sources
//===----------------------------------------------------------------------===//

namespace {
/// start + i * step, i < size: what a source takes along a dimension.
struct Slice {
  int64_t start, step, size;

  Slice(SourceAttr source, size_t dim)
      : start(source.getStart()[dim]), step(source.getStep()[dim]),
        size(source.getSize()[dim]) {
    if (size == 1)
      step = 1;
  }
  int64_t last() const { return start + (size - 1) * step; }
};
} // namespace

static bool meet(const Slice &a, const Slice &b) {
  int64_t first = std::max(a.start, b.start);
  int64_t last = std::min(a.last(), b.last());
  int64_t at = a.start + llvm::divideCeil(first - a.start, a.step) * a.step;
  // Distances from b's elements repeat after this many of a's.
  int64_t period = b.step / std::gcd(a.step, b.step);
  for (; period > 0 && at <= last; --period, at += a.step)
    if ((at - b.start) % b.step == 0)
      return true;
  return false;
}

bool tp::overlap(SourceAttr a, SourceAttr b) {
  if (a.getName() != b.getName() || a.getReshape() != b.getReshape())
    return false;
  for (size_t d = 0; d < a.getReshape().size(); ++d)
    if (!meet(Slice(a, d), Slice(b, d)))
      return false;
  return true;
}

LogicalResult colrow::tp::detail::verifySources(ParameterOp op) {
  if (!op.getSource())
    return success();
  auto sources = llvm::to_vector(op.getSource()->getAsRange<SourceAttr>());
  int64_t elements = 0, wanted = op.getWholeType().getNumElements();
  for (auto [i, source] : llvm::enumerate(sources)) {
    elements += ShapedType::getNumElements(source.getSize());
    for (SourceAttr other : ArrayRef(sources).take_front(i))
      if (overlap(source, other))
        return op.emitOpError("C7: two of its sources take the same element "
                              "of \"")
               << source.getName() << '"';
    if (elements > wanted)
      break;
  }
  if (elements != wanted)
    return op.emitOpError("C2: its sources give ")
           << elements << " elements, the parameter has " << wanted;
  return success();
}
