// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax of tp.source: parts that change nothing are left out.

#include "colrow/TP/TP.h"
#include <numeric>

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

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
