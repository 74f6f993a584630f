// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the ops' text.

#include "Assembly.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

/// `%x[64] : f32`; an address of zero is not written.
static ParseResult parseOperand(OpAsmParser &parser,
                                OpAsmParser::UnresolvedOperand &operand,
                                Type &type, AffineList &addresses) {
  if (parser.parseOperand(operand))
    return failure();
  Affine &address = addresses.emplace_back();
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parseAffineBody(parser, address))
      return failure();
  }
  Type element;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseColonType(element))
    return failure();
  type = BufferType::getChecked([&] { return parser.emitError(at); },
                                parser.getContext(), element);
  return success(type != nullptr);
}

static void printOperand(OpAsmPrinter &printer, Value operand, Type type,
                         const Affine &address) {
  printer << operand;
  if (!address.isZero())
    printAffine(printer, address);
  printer << " : " << cast<BufferType>(type).getElementType();
}

ParseResult planir::parseAt(OpAsmParser &parser, unsigned index,
                            OpAsmParser::UnresolvedOperand &operand, Type &type,
                            AffineList &addresses) {
  return parseOperand(parser, operand, type, addresses);
}

void planir::printAt(OpAsmPrinter &printer, Operation *op, unsigned index,
                     Value operand, Type type, ArrayRef<Affine> addresses) {
  printOperand(printer, operand, type,
               index < addresses.size() ? addresses[index] : Affine());
}

ParseResult planir::parseLaunchArgs(OpAsmParser &parser, Operands &operands,
                                    SmallVectorImpl<Type> &types,
                                    AffineList &addresses,
                                    DenseI64ArrayAttr &bytes) {
  SmallVector<int64_t> sizes;
  auto parseArg = [&]() -> ParseResult {
    if (parseOperand(parser, operands.emplace_back(), types.emplace_back(),
                     addresses) ||
        parser.parseKeyword("for"))
      return failure();
    return parser.parseInteger(sizes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseArg))
    return failure();
  bytes = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

void planir::printLaunchArgs(OpAsmPrinter &printer, Operation *op,
                             OperandRange operands, TypeRange types,
                             ArrayRef<Affine> addresses,
                             DenseI64ArrayAttr bytes) {
  printer << '(';
  for (auto [i, operand] : llvm::enumerate(operands)) {
    printer << (i ? ", " : "");
    printAt(printer, op, i, operand, types[i], addresses);
    printer << " for " << (i < size_t(bytes.size()) ? bytes[i] : 0);
  }
  printer << ')';
}

static ParseResult parseList(OpAsmParser &parser, StringRef keyword,
                             AffineList &list) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
    return parseAffine(parser, list.emplace_back());
  });
}

static void printList(OpAsmPrinter &printer, StringRef keyword,
                      ArrayRef<Affine> list) {
  if (list.empty())
    return;
  printer << ' ' << keyword << " [";
  llvm::interleaveComma(list, printer,
                        [&](const Affine &a) { printAffine(printer, a); });
  printer << ']';
}

ParseResult planir::parseInts(OpAsmParser &parser, AffineList &list) {
  return parseList(parser, "ints", list);
}

void planir::printInts(OpAsmPrinter &printer, Operation *,
                       ArrayRef<Affine> list) {
  printList(printer, "ints", list);
}

ParseResult planir::parseStarts(OpAsmParser &parser, AffineList &list) {
  return parseList(parser, "starts", list);
}

void planir::printStarts(OpAsmPrinter &printer, Operation *,
                         ArrayRef<Affine> list) {
  printList(printer, "starts", list);
}

ParseResult planir::parseRange(OpAsmParser &parser, int64_t &low,
                               int64_t &high) {
  if (failed(parser.parseOptionalKeyword("range")))
    return success();
  return failure(parser.parseInteger(low) || parser.parseKeyword("to") ||
                 parser.parseInteger(high));
}

void planir::printRange(OpAsmPrinter &printer, Operation *, int64_t low,
                        int64_t high) {
  if (low || high)
    printer << " range " << low << " to " << high;
}

/// `f32 read 1024 over [0]`.
static KernelArgAttr parseKernelArg(AsmParser &parser) {
  Type element;
  StringRef word;
  int64_t extent;
  SmallVector<int64_t> over;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseType(element) || parser.parseKeyword(&word) ||
      parser.parseInteger(extent))
    return {};
  std::optional<Access> access = symbolizeAccess(word);
  if (!access) {
    parser.emitError(at, "a kernel reads, writes or accumulates, it does not '")
        << word << "'";
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("over")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(over.emplace_back());
      }))
    return {};
  return KernelArgAttr::get(parser.getContext(), element, *access, extent,
                            over);
}

static void printKernelArg(AsmPrinter &printer, KernelArgAttr arg) {
  printer << arg.getElementType() << ' ' << stringifyAccess(arg.getAccess())
          << ' ' << arg.getExtent();
  if (arg.getOver().empty())
    return;
  printer << " over [";
  llvm::interleaveComma(arg.getOver(), printer);
  printer << ']';
}

Attribute KernelArgAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  KernelArgAttr arg = parseKernelArg(parser);
  return arg && succeeded(parser.parseGreater()) ? arg : KernelArgAttr();
}

void KernelArgAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printKernelArg(printer, *this);
  printer << '>';
}

ParseResult planir::parseKernelArgs(OpAsmParser &parser, ArrayAttr &args) {
  SmallVector<Attribute> list;
  auto parseArg = [&]() -> ParseResult {
    KernelArgAttr arg = parseKernelArg(parser);
    list.push_back(arg);
    return success(arg != nullptr);
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseArg))
    return failure();
  args = parser.getBuilder().getArrayAttr(list);
  return success();
}

void planir::printKernelArgs(OpAsmPrinter &printer, Operation *,
                             ArrayAttr args) {
  printer << '[';
  llvm::interleave(
      args.getAsRange<KernelArgAttr>(), printer,
      [&](KernelArgAttr arg) { printKernelArg(printer, arg); }, ", ");
  printer << ']';
}

ParseResult planir::parseReduction(OpAsmParser &parser, ReductionAttr &attr) {
  StringRef word;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Reduction> reduction = symbolizeReduction(word);
  if (!reduction)
    return parser.emitError(at, "wanted sum or max, found '") << word << "'";
  attr = ReductionAttr::get(parser.getContext(), *reduction);
  return success();
}

void planir::printReduction(OpAsmPrinter &printer, Operation *,
                            ReductionAttr attr) {
  printer << stringifyReduction(attr.getValue());
}

ParseResult planir::parseLines(OpAsmParser &parser, StringAttr &text) {
  std::string lines, line;
  while (succeeded(parser.parseOptionalString(&line)))
    lines += line + "\n";
  text = parser.getBuilder().getStringAttr(lines);
  return success();
}

void planir::printLines(OpAsmPrinter &printer, Operation *, StringAttr text) {
  printer.increaseIndent();
  StringRef rest = text.getValue();
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    printer.printNewline();
    printer.printString(line);
    rest = next;
  }
  printer.decreaseIndent();
  printer.printNewline();
}
