// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the ops' text: what `custom<...>` in PlanOps.td stands for.

#ifndef COLROW_DIALECTS_PLAN_ASSEMBLY_H
#define COLROW_DIALECTS_PLAN_ASSEMBLY_H

#include "colrow/dialects/Plan/Plan.h"

namespace colrow::planir {
using Operands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// Operand `index` at its address, and the buffer's elements: `%x[64] : f32`.
mlir::ParseResult parseAt(mlir::OpAsmParser &parser, unsigned index,
                          mlir::OpAsmParser::UnresolvedOperand &operand,
                          mlir::Type &type, AffineList &addresses);
void printAt(mlir::OpAsmPrinter &printer, mlir::Operation *op, unsigned index,
             mlir::Value operand, mlir::Type type,
             llvm::ArrayRef<Affine> addresses);

/// `(%x[64] : f32 for 1024, ...)`.
mlir::ParseResult parseLaunchArgs(mlir::OpAsmParser &parser, Operands &operands,
                                  llvm::SmallVectorImpl<mlir::Type> &types,
                                  AffineList &addresses,
                                  mlir::DenseI64ArrayAttr &bytes);
void printLaunchArgs(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::OperandRange operands, mlir::TypeRange types,
                     llvm::ArrayRef<Affine> addresses,
                     mlir::DenseI64ArrayAttr bytes);

/// `ints [[3 + 1 * l0], ...]`, or nothing.
mlir::ParseResult parseInts(mlir::OpAsmParser &parser, AffineList &list);
void printInts(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               llvm::ArrayRef<Affine> list);

/// `starts [[0], ...]`, or nothing.
mlir::ParseResult parseStarts(mlir::OpAsmParser &parser, AffineList &list);
void printStarts(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 llvm::ArrayRef<Affine> list);

/// `range 0 to 64`, or nothing where both are 0.
mlir::ParseResult parseRange(mlir::OpAsmParser &parser, int64_t &low,
                             int64_t &high);
void printRange(mlir::OpAsmPrinter &printer, mlir::Operation *op, int64_t low,
                int64_t high);

/// `[f32 read 1024, ...]`.
mlir::ParseResult parseKernelArgs(mlir::OpAsmParser &parser,
                                  mlir::ArrayAttr &args);
void printKernelArgs(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::ArrayAttr args);

/// `sum` or `max`.
mlir::ParseResult parseReduction(mlir::OpAsmParser &parser,
                                 ReductionAttr &attr);
void printReduction(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    ReductionAttr attr);

/// A text, one string a line.
mlir::ParseResult parseLines(mlir::OpAsmParser &parser, mlir::StringAttr &text);
void printLines(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::StringAttr text);

} // namespace colrow::planir

#endif // COLROW_DIALECTS_PLAN_ASSEMBLY_H
