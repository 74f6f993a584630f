// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax and checks of meshes and layouts, and their plain structs.

#include "colrow/dialects/TP/TP.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

#define GET_ATTRDEF_CLASSES
#include "colrow/dialects/TP/TPAttributes.cpp.inc"

void TPDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "colrow/dialects/TP/TPAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

MeshAttr MeshAttr::get(MLIRContext *context, const layout::Mesh &mesh) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<bool> batch;
  for (const layout::MeshAxis &axis : mesh.axes) {
    names.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
    batch.push_back(axis.role == layout::AxisRole::Batch);
  }
  return get(context, names, sizes, batch);
}

layout::Mesh MeshAttr::getMesh() const {
  layout::Mesh mesh;
  for (auto [name, size, batch] : llvm::zip(getNames(), getSizes(), getBatch()))
    mesh.axes.push_back(
        {name.str(), size,
         batch ? layout::AxisRole::Batch : layout::AxisRole::Feature});
  return mesh;
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes, ArrayRef<bool> batch) {
  if (names.size() > layout::maxAxes)
    return emitError() << "a mesh of " << names.size()
                       << " axes; there may be at most " << layout::maxAxes;
  for (auto [i, name] : llvm::enumerate(names)) {
    // C1
    if (name.getValue().empty())
      return emitError() << "mesh axis " << i << " has no name";
    if (llvm::is_contained(names.take_front(i), name))
      return emitError() << "mesh axis " << name << " appears twice";
    // C2
    if (sizes[i] < 1 || sizes[i] > layout::maxAxisSize)
      return emitError() << "mesh axis " << name << " has size " << sizes[i]
                         << "; it must be from 1 to " << layout::maxAxisSize;
  }
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<bool> batch;
  auto axis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    sizes.push_back(size);
    batch.push_back(succeeded(parser.parseOptionalKeyword("batch")));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, axis))
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), names, sizes, batch);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip(getNames(), getSizes(), getBatch()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << '=' << std::get<1>(axis)
                << (std::get<2>(axis) ? " batch" : "");
      });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// Writes a layout as numbers: dimensions; per dimension its factors, each
/// size, padded size and axes; then the three lists of axes.
static SmallVector<int64_t> encode(const layout::Layout &layout) {
  SmallVector<int64_t> flat;
  auto list = [&](ArrayRef<unsigned> axes) {
    flat.push_back(axes.size());
    flat.append(axes.begin(), axes.end());
  };
  flat.push_back(layout.dims.size());
  for (const layout::DimLayout &dim : layout.dims) {
    flat.push_back(dim.size());
    for (const layout::Factor &factor : dim) {
      flat.push_back(factor.size);
      flat.push_back(factor.padded);
      list(factor.axes);
    }
  }
  list(layout.copied);
  list(layout.partial);
  list(layout.partialMax);
  return flat;
}

LayoutAttr LayoutAttr::get(MeshAttr mesh, layout::Layout layout) {
  layout.canonicalize();
  return get(mesh.getContext(), mesh, encode(layout));
}

LayoutAttr LayoutAttr::replicated(MeshAttr mesh, unsigned rank) {
  return get(mesh, layout::Layout(rank));
}

layout::Layout LayoutAttr::getLayout() const {
  const int64_t *next = getFlat().begin();
  auto list = [&](SmallVectorImpl<unsigned> &axes) {
    for (int64_t n = *next++; n > 0; --n)
      axes.push_back(*next++);
  };
  layout::Layout layout(*next++);
  for (layout::DimLayout &dim : layout.dims) {
    dim.resize(*next++);
    for (layout::Factor &factor : dim) {
      factor.size = *next++;
      factor.padded = *next++;
      list(factor.axes);
    }
  }
  list(layout.copied);
  list(layout.partial);
  list(layout.partialMax);
  return layout;
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (llvm::Error e = getLayout().verify(shape, getMesh().getMesh()))
    return emitError() << llvm::toString(std::move(e));
  return success();
}

/// Parses `"a"` or `("a", "b")`, names of mesh axes.
static ParseResult parseAxes(AsmParser &parser, const layout::Mesh &mesh,
                             SmallVectorImpl<unsigned> &axes) {
  auto one = [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseString(&name))
      return failure();
    std::optional<unsigned> axis = mesh.find(name);
    if (!axis)
      return parser.emitError(loc) << "the mesh has no axis \"" << name << '"';
    axes.push_back(*axis);
    return success();
  };
  if (failed(parser.parseOptionalLParen()))
    return one();
  return failure(parser.parseCommaSeparatedList(one) || parser.parseRParen());
}

/// Parses `_` or `{6 pad 8 over "tp", 10}`.
static ParseResult parseDim(AsmParser &parser, const layout::Mesh &mesh,
                            layout::DimLayout &dim) {
  if (succeeded(parser.parseOptionalKeyword("_")))
    return success();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        layout::Factor factor;
        if (parser.parseInteger(factor.size))
          return failure();
        factor.padded = factor.size;
        if (succeeded(parser.parseOptionalKeyword("pad")) &&
            parser.parseInteger(factor.padded))
          return failure();
        if (succeeded(parser.parseOptionalKeyword("over")) &&
            parseAxes(parser, mesh, factor.axes))
          return failure();
        dim.push_back(factor);
        return success();
      });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc begin = parser.getCurrentLocation();
  MeshAttr meshAttr;
  if (parser.parseLess() || parser.parseAttribute(meshAttr) ||
      parser.parseComma())
    return {};
  layout::Mesh mesh = meshAttr.getMesh();
  layout::Layout layout;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseDim(parser, mesh, layout.dims.emplace_back());
      }))
    return {};
  while (failed(parser.parseOptionalGreater())) {
    StringRef kind;
    if (parser.parseKeyword(&kind))
      return {};
    auto *axes = kind == "copied"        ? &layout.copied
                 : kind == "partial"     ? &layout.partial
                 : kind == "partial_max" ? &layout.partialMax
                                         : nullptr;
    if (!axes) {
      parser.emitError(parser.getCurrentLocation())
          << "expected copied, partial or partial_max";
      return {};
    }
    if (parseAxes(parser, mesh, *axes))
      return {};
  }
  if (llvm::Error e = layout.verifyFactors(mesh)) {
    parser.emitError(begin) << toString(std::move(e));
    return {};
  }
  return get(meshAttr, layout);
}

static void printAxes(AsmPrinter &printer, const layout::Mesh &mesh,
                      ArrayRef<unsigned> axes) {
  printer << (axes.size() > 1 ? "(" : "");
  llvm::interleaveComma(axes, printer, [&](unsigned axis) {
    printer << '"' << mesh.axes[axis].name << '"';
  });
  printer << (axes.size() > 1 ? ")" : "");
}

static void printDim(AsmPrinter &printer, const layout::Mesh &mesh,
                     const layout::DimLayout &dim) {
  if (dim.empty()) {
    printer << '_';
    return;
  }
  printer << '{';
  llvm::interleaveComma(dim, printer, [&](const layout::Factor &factor) {
    printer << factor.size;
    if (factor.padded != factor.size)
      printer << " pad " << factor.padded;
    if (!factor.axes.empty()) {
      printer << " over ";
      printAxes(printer, mesh, factor.axes);
    }
  });
  printer << '}';
}

void LayoutAttr::print(AsmPrinter &printer) const {
  layout::Layout layout = getLayout();
  layout::Mesh mesh = getMesh().getMesh();
  printer << '<';
  printer.printAttribute(getMesh());
  printer << ", [";
  llvm::interleaveComma(layout.dims, printer, [&](const layout::DimLayout &d) {
    printDim(printer, mesh, d);
  });
  printer << ']';
  auto state = [&](StringRef name, ArrayRef<unsigned> axes) {
    if (axes.empty())
      return;
    printer << ' ' << name << ' ';
    printAxes(printer, mesh, axes);
  };
  state("copied", layout.copied);
  state("partial", layout.partial);
  state("partial_max", layout.partialMax);
  printer << '>';
}
