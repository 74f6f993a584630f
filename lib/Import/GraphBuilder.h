// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the module: parameters with their place in the checkpoint, and the
// ops of @main. Sizes must have been checked; nothing here can fail.

#ifndef COLROW_LIB_IMPORT_GRAPHBUILDER_H
#define COLROW_LIB_IMPORT_GRAPHBUILDER_H

#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace colrow::import {

/// What a model and its caller fix for the whole graph.
struct GraphShape {
  std::string modelType;
  std::string config; ///< whole text of config.json
  int64_t batch, seq, vocab;
};

/// Element-wise functions that a config can name.
enum class Activation { GeluExact, GeluTanh, Relu, Silu };

/// How queries meet keys in one layer.
struct AttentionShape {
  int64_t groups;   ///< key-value heads
  int64_t perGroup; ///< query heads that share one
  int64_t headDim;
  double scale;         ///< of the scores
  double dropout = 0.0; ///< of the probabilities
};

/// A parameter and where its values stand in the checkpoint.
struct ParameterSpec {
  std::string tensor;                  ///< name, as transformers saves it
  llvm::SmallVector<int64_t, 2> shape; ///< of the tensor in the file
  tp::InitAttr init;
  /// The file holds [in, out], the graph [out, in].
  bool transposed = false;
  /// A part of the file's last dimension; empty: the whole.
  std::string part = {}; ///< suffix of the symbol
  int64_t partStart = 0, partSize = 0;
};

class GraphBuilder {
public:
  /// `droppedPrefix`: what the file's names lack in front, "" mostly.
  GraphBuilder(mlir::MLIRContext &context, const GraphShape &shape,
               std::string droppedPrefix);

  mlir::Value ids() { return main.getArgument(0); }
  int64_t seq() {
    return mlir::cast<mlir::RankedTensorType>(ids().getType()).getDimSize(1);
  }

  /// The module path that the next ops come from: their location.
  void enter(const llvm::Twine &modulePath);

  tp::InitAttr zeros() {
    return tp::InitAttr::get(context, tp::InitKind::Zeros);
  }
  tp::InitAttr ones() { return tp::InitAttr::get(context, tp::InitKind::Ones); }
  tp::InitAttr normal(double std) {
    return tp::InitAttr::get(context, tp::InitKind::Normal, 0, std);
  }

  /// Declares a parameter and reads it here. Ids count up.
  mlir::Value parameter(const ParameterSpec &spec);

  mlir::Value matmul(mlir::Value x, mlir::Value weight);
  /// Also with an `rhs` that lacks leading dimensions.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value embedding(mlir::Value ids, mlir::Value table);
  /// The first `count` rows of a table.
  mlir::Value takeRows(mlir::Value table, int64_t count);
  mlir::Value activation(mlir::Value x, Activation kind);
  /// `x` itself when p is 0.
  mlir::Value dropout(mlir::Value x, double p);
  mlir::Value layerNorm(mlir::Value x, mlir::Value gamma, mlir::Value beta,
                        double eps);
  mlir::Value rmsNorm(mlir::Value x, mlir::Value gamma, double eps);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value rotary(mlir::Value x, llvm::ArrayRef<double> frequencies);
  /// Causal attention. q is [b, s, groups * perGroup * headDim], k and v are
  /// [b, s, groups * headDim]; the result is as q. Without frequencies no
  /// positions enter.
  mlir::Value attention(mlir::Value q, mlir::Value k, mlir::Value v,
                        const AttentionShape &shape,
                        llvm::ArrayRef<double> frequencies = {});

  /// Ends @main with the loss of `logits` and gives the module away.
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value logits);

private:
  mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape);
  /// The mapping of `spec`, in the file's own names.
  tp::SourceAttr sourceOf(const ParameterSpec &spec);
  void createModule(const GraphShape &shape);
  void createMain(const GraphShape &shape);

  mlir::MLIRContext *context;
  mlir::OpBuilder body, symbols; ///< in @main; before @main
  mlir::Location here;
  std::string droppedPrefix;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  int64_t nextParameter = 0, nextDropout = 1;
};

} // namespace colrow::import

#endif // COLROW_LIB_IMPORT_GRAPHBUILDER_H
