// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mathematics: each op with its factor rule, and beside it the op that is
// its gradient. `*` stands for any leading dimensions (batch and sequence).

#ifndef COLROW_TP_MATH_OPS_TD
#define COLROW_TP_MATH_OPS_TD

include "TPOps.td"

def Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def GradientFlow : DeclareOpInterfaceMethods<GradientFlowOpInterface>;
def Plan : DeclareOpInterfaceMethods<PlanLowerableOpInterface>;
def Rows : DeclareOpInterfaceMethods<RowLowerableOpInterface>;
// Rows over a space of the op's own.
def RowsOwnSpace : DeclareOpInterfaceMethods<RowLowerableOpInterface, ["getSpace"]>;
// Whose work is not that of its row kernel.
def Costed : DeclareOpInterfaceMethods<CostedOpInterface>;
// Integer operands name rows or columns of another one.
def Indexing : DeclareOpInterfaceMethods<IndexingOpInterface>;
// One of these integers stands for nothing.
def IndexingSome : DeclareOpInterfaceMethods<IndexingOpInterface, ["addIgnored"]>;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

def TP_MatmulOp : TP_RuleOp<"matmul", "x: * h, w: k h -> y: * k",
    [Differentiable, Plan, Costed, TP_ProductOf<"y", "x">]> {
  let summary = "multiply by a weight stored [out, in]";
  let description = [{
    y[*, k] = sum over h of x[*, h] w[k, h]. Split on k it is a column-parallel
    linear layer, split on h a row-parallel one with partial sums. It adds in
    float32; of bf16 operands the result, rounded once, is bf16 or f32.

    ```mlir
    %y = tp.matmul %x, %w : (tensor<2x3x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$w);
  let results = (outs TP_ProductTensor:$y);
  let linear = "x | w";
  let paddingZeroIf = ["x", "w"];
}

def TP_MatmulDgradOp : TP_RuleOp<"matmul_dgrad", "dy: * k, w: k h -> dx: * h",
    [Plan, Costed, TP_ProductOf<"dx", "dy">]> {
  let summary = "gradient of tp.matmul in x: dy w";
  let description = [{
    ```mlir
    %dx = tp.matmul_dgrad %dy, %w : (tensor<2x3x5xf32>, tensor<5x7xf32>) -> tensor<2x3x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$dy, TP_FloatTensor:$w);
  let results = (outs TP_ProductTensor:$dx);
  let linear = "dy | w";
  let paddingZeroIf = ["dy", "w"];
}

def TP_MatmulWgradOp : TP_RuleOp<"matmul_wgrad", "dy: * k, x: * h -> dw: k h",
    [Plan, Costed, TP_ProductOf<"dw", "dy">]> {
  let summary = "gradient of tp.matmul in w: dy^T x, summed over rows";
  let description = [{
    ```mlir
    %dw = tp.matmul_wgrad %dy, %x : (tensor<2x3x5xf32>, tensor<2x3x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$dy, TP_FloatTensor:$x);
  let results = (outs TP_ProductTensor:$dw);
  let linear = "dy | x";
  let paddingZeroIf = ["dy", "x"];
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

def TP_EmbeddingOp : TP_RuleOp<"embedding", "ids: *, table: v h -> y: * h",
    [Differentiable, Indexing, RowsOwnSpace],
    ["getIndexedValue"]> {
  let summary = "rows of a table by id";
  let description = [{
    Split on v each rank looks up the ids in its own rows and gives zero for
    the others: partial sums.

    ```mlir
    %y = tp.embedding %ids, %table : (tensor<2x5xi32>, tensor<11x7xf32>) -> tensor<2x5x7xf32>
    ```
  }];
  let arguments = (ins TP_IntTensor:$ids, TP_FloatTensor:$table,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_FloatTensor:$y);
  let linear = "table";
  let paddingOf = "table";
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getTable(); }
  }];
}

def TP_EmbeddingGradOp : TP_RuleOp<"embedding_grad", "ids: *, dy: * h -> dtable: v h", [RowsOwnSpace],
    ["getIndexedValue", "getPaddingValue"]> {
  let summary = "gradient of tp.embedding in the table: rows added by id";
  let description = [{
    v appears in the result only: split on v each rank keeps the rows that are
    its own. Sums over rows are kept in f32.

    ```mlir
    %dtable = tp.embedding_grad %ids, %dy : (tensor<2x5xi32>, tensor<2x5x7xf32>) -> tensor<11x7xf32>
    ```
  }];
  let arguments = (ins TP_IntTensor:$ids, TP_FloatTensor:$dy,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_F32Tensor:$dtable);
  let linear = "dy";
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getDtable(); }
    // No id names a padded row; NaN says that dy is not split there.
    std::optional<double> $cppClass::getPaddingValue(
        unsigned, ::llvm::ArrayRef<std::optional<double>> operands) {
      return operands[1] && std::isnan(*operands[1]) ? 0.0 : operands[1];
    }
  }];
}

def TP_TakeRowsOp : TP_RuleOp<"take_rows", "table: n h -> y: s h",
    [Differentiable, RowsOwnSpace]> {
  let summary = "the first s rows of a table (learned positions)";
  let description = [{
    ```mlir
    %y = tp.take_rows %table : (tensor<11x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$table);
  let results = (outs TP_FloatTensor:$y);
  let whole = "n s";
  let linear = "table";
}

def TP_PadRowsOp : TP_RuleOp<"pad_rows", "dy: s h -> dtable: n h", [RowsOwnSpace]> {
  let summary = "gradient of tp.take_rows: zero rows behind";
  let description = [{
    ```mlir
    %dtable = tp.pad_rows %dy : (tensor<5x7xf32>) -> tensor<11x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$dy);
  let results = (outs TP_F32Tensor:$dtable);
  let whole = "n s";
  let linear = "dy";
}

def TP_ShiftLabelsOp : TP_RuleOp<"shift_labels", "labels: b t -> shifted: b s",
    [IndexingSome, RowsOwnSpace]> {
  let summary = "labels of positions 1..s of s+1: what position i predicts";
  let description = [{
    ```mlir
    %shifted = tp.shift_labels %labels : (tensor<5x8xi32>) -> tensor<5x7xi32>
    ```
  }];
  let arguments = (ins TP_IntTensor:$labels);
  let results = (outs TP_IntTensor:$shifted);
  let whole = "t s";
}

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

class TP_BinaryOp<string mnem, string linearSets>
    : TP_Op<mnem, [Pure, Differentiable, Rows,
                   DeclareOpInterfaceMethods<ShardableOpInterface, ["getPaddingValue"]>]> {
  let arguments = (ins TP_FloatTensor:$lhs, TP_FloatTensor:$rhs);
  let results = (outs TP_FloatTensor:$y);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = [{
    ::llvm::Expected<::colrow::layout::FactorRule> $cppClass::getFactorRule() {
      return ::colrow::tp::detail::bindBroadcast(*this, "}] # linearSets # [{");
    }
  }];
}

def TP_AddOp : TP_BinaryOp<"add", "lhs rhs"> {
  let summary = "add; rhs may lack leading dimensions (a bias)";
  let description = [{
    Jointly linear: both operands are partial or none, so a bias is added once
    and never on each rank to a partial sum.

    ```mlir
    %y = tp.add %x, %bias : (tensor<2x5x7xf32>, tensor<7xf32>) -> tensor<2x5x7xf32>
    ```
  }];
}

def TP_MulOp : TP_BinaryOp<"mul", "lhs | rhs"> {
  let summary = "multiply; rhs may lack leading dimensions";
  let description = [{
    ```mlir
    %y = tp.mul %x, %s : (tensor<2x5x7xf32>, tensor<7xf32>) -> tensor<2x5x7xf32>
    ```
  }];
}

def TP_AccumulateOp : TP_RuleOp<"accumulate", "lhs: *, rhs: * -> sum: *",
    [Rows, Costed], ["getPaddingValue"]> {
  let summary = "sum of two gradients of one value";
  let description = [{
    Made by `tp-differentiate` where a value has several uses. It is no work of
    its own: what it adds was counted where it was made, and the sum takes the
    place of a summand.

    ```mlir
    %sum = tp.accumulate %a, %b : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$lhs, TP_FloatTensor:$rhs);
  let results = (outs TP_FloatTensor:$sum);
  let linear = "lhs rhs";
  let moreDefinitions = [{
    std::optional<double> $cppClass::getPaddingValue(
        unsigned, ::llvm::ArrayRef<std::optional<double>> operands) {
      if (operands[0] && operands[1])
        return *operands[0] + *operands[1];
      return std::nullopt;
    }
  }];
}

def TP_ScaleOp : TP_RuleOp<"scale", "x: * -> y: *", [Differentiable, Rows]> {
  let summary = "multiply by a constant";
  let description = [{
    ```mlir
    %y = tp.scale %x {factor = 2.0 : f64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FiniteAttr:$factor);
  let results = (outs TP_FloatTensor:$y);
  let linear = "x";
  let paddingZeroIf = ["x"];
}

def TP_CastOp : TP_Op<"cast", [Pure, Differentiable, Rows, Costed,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["getPaddingValue"]>]> {
  let summary = "the same numbers in another float type";
  let description = [{
    To bf16 it rounds to the nearest, ties to even; to f32 it is exact. In a
    kernel that goes on with the value nothing is rounded: all kernels compute
    in float32. It is no work of its own, since it is part of the kernel beside
    it.

    Rounding is not linear: the sum of rounded summands is not their rounded
    sum. So summands may be widened, but not narrowed: `tp.g` comes first. And
    where ranks would each get a share of the gradient (the copied way), widening
    is not offered, for its gradient narrows the shares.

    ```mlir
    %y = tp.cast %x : (tensor<5x7xf32>) -> tensor<5x7xbf16>
    %z = tp.cast %y : (tensor<5x7xbf16>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_CastTensor:$x);
  let results = (outs TP_CastTensor:$y);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

def TP_RoundShareOp : TP_RuleOp<"round_share", "x: * -> y: *", [Rows, Costed]> {
  let summary = "each rank rounds its share of a gradient to bf16";
  let description = [{
    What `tp.cast` does not do to summands: each is rounded by itself. Made by
    `tp-differentiate` before the change of layout that sums shares of the
    gradient of a parameter whose `tp.param` says `round_shares`, where no
    product gave bf16 already: behind sums over rows, and behind the sum, in f32,
    of the shares that several uses give. As a cast it is no work of its own.

    ```mlir
    %y = tp.round_share %x : (tensor<5x7xf32>) -> tensor<5x7xbf16>
    ```
  }];
  let arguments = (ins TP_F32Tensor:$x);
  let results = (outs TP_BF16Tensor:$y);
  let linear = "x";
  let paddingOf = "x";
}

def TP_StopGradientOp : TP_RuleOp<"stop_gradient", "x: * -> y: *", [GradientFlow]> {
  let summary = "the same value, which the gradient takes for a constant";
  let description = [{
    Says that no gradient is wanted, where one would flow or could not be built.
    `tp-partition` removes it.

    ```mlir
    func.func @constant_scale(%x: tensor<5x10xf32>) -> tensor<5xf32> {
      %c = tp.stop_gradient %x : (tensor<5x10xf32>) -> tensor<5x10xf32>
      %m = tp.row_max %c : (tensor<5x10xf32>) -> tensor<5xf32>
      return %m : tensor<5xf32>
    }
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_FloatTensor:$y);
  let linear = "x";
  let paddingOf = "x";
  let moreDefinitions = [{
    ::colrow::tp::GradientFlow $cppClass::getFlow(unsigned, unsigned) {
      return ::colrow::tp::GradientFlow::Zero;
    }
  }];
}

def TP_SumLeadingOp : TP_Op<"sum_leading",
    [Pure, Rows, DeclareOpInterfaceMethods<ShardableOpInterface, ["getPaddingValue"]>]> {
  let summary = "sum over leading dimensions: gradient of a broadcast";
  let description = [{
    ```mlir
    %y = tp.sum_leading %x : (tensor<2x5x7xf32>) -> tensor<7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_F32Tensor:$y);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

/// An element-wise function of one value and, beside it, its gradient
/// x, dy -> dx, linear in dy.
class TP_UnaryOp<string mnem>
    : TP_RuleOp<mnem, "x: * -> y: *", [Differentiable, Rows]> {
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_FloatTensor:$y);
  // All of these map 0 to 0.
  let paddingZeroIf = ["x"];
}
class TP_UnaryGradOp<string mnem> : TP_RuleOp<mnem, "x: *, dy: * -> dx: *", [Rows]> {
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$dy);
  let results = (outs TP_FloatTensor:$dx);
  let linear = "dy";
  let paddingZeroIf = ["dy"];
}

def TP_GeluOp : TP_UnaryOp<"gelu"> {
  let summary = "x Phi(x), exactly through erf or by the tanh form";
  let description = [{
    ```mlir
    %y = tp.gelu %x : (tensor<5x7xf32>) -> tensor<5x7xf32>
    %z = tp.gelu %x {tanh} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, UnitAttr:$tanh);
}
def TP_GeluGradOp : TP_UnaryGradOp<"gelu_grad"> {
  let summary = "gradient of tp.gelu";
  let description = [{
    ```mlir
    %dx = tp.gelu_grad %x, %dy : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$dy, UnitAttr:$tanh);
}
def TP_ReluOp : TP_UnaryOp<"relu"> { let summary = "max(x, 0)";
  let description = [{
    ```mlir
    %y = tp.relu %x : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
}
def TP_ReluGradOp : TP_UnaryGradOp<"relu_grad"> {
  let summary = "gradient of tp.relu: dy where x > 0";
  let description = [{
    ```mlir
    %dx = tp.relu_grad %x, %dy : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
}
def TP_SiluOp : TP_UnaryOp<"silu"> { let summary = "x / (1 + exp(-x))";
  let description = [{
    ```mlir
    %y = tp.silu %x : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
}
def TP_SiluGradOp : TP_UnaryGradOp<"silu_grad"> {
  let summary = "gradient of tp.silu";
  let description = [{
    ```mlir
    %dx = tp.silu_grad %x, %dy : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
}

def TP_SoftcapOp : TP_UnaryOp<"softcap"> {
  let summary = "cap tanh(x / cap): x where it is small, never beyond +-cap";
  let description = [{
    Keeps attention scores and logits bounded (Gemma 2).

    ```mlir
    %y = tp.softcap %x {cap = 3.0 : f64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_PositiveAttr:$cap);
}
def TP_SoftcapGradOp : TP_RuleOp<"softcap_grad", "y: *, dy: * -> dx: *", [Rows]> {
  let summary = "gradient of tp.softcap by its result: dy (1 - (y / cap)^2)";
  let description = [{
    ```mlir
    %dx = tp.softcap_grad %y, %dy {cap = 3.0 : f64} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$y, TP_FloatTensor:$dy, TP_PositiveAttr:$cap);
  let results = (outs TP_FloatTensor:$dx);
  let linear = "dy";
  let paddingZeroIf = ["dy"];
}

def TP_DropoutOp : TP_RuleOp<"dropout", "x: * -> y: *", [Differentiable, Rows],
    ["getIndexedValue"]> {
  let summary = "zero with probability p, scale the rest by 1/(1-p)";
  let description = [{
    The mask is Philox of (seed, step, `id`, index in the whole tensor), so it
    is the same on every mesh; the gradient is the same op with the same `id`.

    ```mlir
    %y = tp.dropout %x {p = 0.25 : f64, id = 3 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FractionAttr:$p, TP_IdAttr:$id,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_FloatTensor:$y);
  let linear = "x";
  let paddingZeroIf = ["x"];
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getX(); }
  }];
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def TP_LayerNormOp : TP_RuleOp<"layer_norm", "x: * h, gamma: h, beta: h -> y: * h",
    [Differentiable, Rows]> {
  let summary = "normalise rows to mean 0 and variance 1, scale and shift";
  let description = [{
    ```mlir
    %y = tp.layer_norm %x, %gamma, %beta {eps = 1.0e-5 : f64} : (tensor<2x5x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<2x5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$gamma,
                       TP_FloatTensor:$beta, TP_PositiveAttr:$eps);
  let results = (outs TP_FloatTensor:$y);
  let stats = "h";
}

def TP_LayerNormGradOp : TP_RuleOp<"layer_norm_grad",
    "x: * h, gamma: h, dy: * h -> dx: * h, dgamma: h, dbeta: h", [Rows]> {
  let summary = "gradients of tp.layer_norm in x, gamma and beta";
  let description = [{
    ```mlir
    %dx, %dgamma, %dbeta = tp.layer_norm_grad %x, %gamma, %dy {eps = 1.0e-5 : f64} : (tensor<2x5x7xf32>, tensor<7xf32>, tensor<2x5x7xf32>) -> (tensor<2x5x7xf32>, tensor<7xf32>, tensor<7xf32>)
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$gamma,
                       TP_FloatTensor:$dy, TP_PositiveAttr:$eps);
  let results = (outs TP_FloatTensor:$dx, TP_F32Tensor:$dgamma,
                      TP_F32Tensor:$dbeta);
  let stats = "h";
  let linear = "dy";
}

def TP_RmsNormOp : TP_RuleOp<"rms_norm", "x: * h, gamma: h -> y: * h",
    [Differentiable, Rows]> {
  let summary = "divide rows by their root mean square, scale";
  let description = [{
    ```mlir
    %y = tp.rms_norm %x, %gamma {eps = 1.0e-5 : f64} : (tensor<2x5x7xf32>, tensor<7xf32>) -> tensor<2x5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$gamma, TP_PositiveAttr:$eps);
  let results = (outs TP_FloatTensor:$y);
  let stats = "h";
}

def TP_RmsNormGradOp : TP_RuleOp<"rms_norm_grad", "x: * h, gamma: h, dy: * h -> dx: * h, dgamma: h",
    [Rows]> {
  let summary = "gradients of tp.rms_norm in x and gamma";
  let description = [{
    ```mlir
    %dx, %dgamma = tp.rms_norm_grad %x, %gamma, %dy {eps = 1.0e-5 : f64} : (tensor<2x5x7xf32>, tensor<7xf32>, tensor<2x5x7xf32>) -> (tensor<2x5x7xf32>, tensor<7xf32>)
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_FloatTensor:$gamma,
                       TP_FloatTensor:$dy, TP_PositiveAttr:$eps);
  let results = (outs TP_FloatTensor:$dx, TP_F32Tensor:$dgamma);
  let stats = "h";
  let linear = "dy";
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def TP_ReshapeOp : TP_Op<"reshape", [Pure, Differentiable, Plan,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["getPaddingValue"]>]> {
  let summary = "split or join dimensions";
  let description = [{
    The rule follows from the shapes: each maximal run of dimensions with equal
    products is one list of factors. A padded factor stays the major factor of
    its dimension: 60 heads-and-size padded to 80 becomes 6 heads padded to 8
    times 10.

    ```mlir
    %y = tp.reshape %x : (tensor<2x60xf32>) -> tensor<2x5x12xf32>
    %z = tp.reshape %y : (tensor<2x5x12xf32>) -> tensor<2x60xf32>
    ```

    **Constraints**
    - C1: operand and result hold equally many elements.
    - C2: each run is one dimension on one side (split or join, no mixing).
  }];
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_FloatTensor:$y);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TP_RotaryOp : TP_RuleOp<"rotary", "x: b s * d -> y: b s * d",
    [Differentiable, RowsOwnSpace]> {
  let summary = "rotate pairs (i, i + r/2) of each head by position";
  let description = [{
    Angle of pair i at position s: s * frequencies[i]. cos and sin
    are multiplied by `scale`. `inverse` turns the other way: the gradient.
    Shapes: [b, s, heads..., d].

    ```mlir
    %y = tp.rotary %x {frequencies = array<f64: 1.0, 0.5>} : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
    ```

    **Constraints**
    - C1: there are d/2 frequencies.
    - C2: they are finite in float32.
  }];
  let arguments = (ins TP_FloatTensor:$x, DenseF64ArrayAttr:$frequencies,
                       DefaultValuedAttr<TP_FiniteAttr, "1.0">:$scale,
                       UnitAttr:$inverse);
  let results = (outs TP_FloatTensor:$y);
  let linear = "x";
  let whole = "s d";
  let hasVerifier = 1;
  let paddingZeroIf = ["x"];
}

def TP_AttentionOp : TP_RuleOp<"attention",
    "q: b s m g d, k: b t m d, v: b t m d -> y: b s m g d, lse: b s m g",
    [Differentiable, GradientFlow, Plan, Costed],
    ["getIndexedValue", "getPaddingValue"]> {
  let summary = "softmax(scale q k^T) v for m groups of g heads";
  let description = [{
    Query heads of a group share its keys and values. `causal`: position s
    sees t <= s. The second result is the logarithm of each row's sum of
    exponentials, for the gradient; it has none itself. Never stores [b, heads, s, t]. `dropout`
    zeroes probabilities as tp.dropout does, by `id`.

    ```mlir
    %y, %lse = tp.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x3x5x2x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> (tensor<2x3x5x2x4xf32>, tensor<2x3x5x2xf32>)
    ```
  }];
  let arguments = (ins TP_FloatTensor:$q, TP_FloatTensor:$k, TP_FloatTensor:$v,
                       TP_FiniteAttr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<TP_FractionAttr, "0.0">:$dropout,
                       DefaultValuedAttr<TP_IdAttr, "0">:$id,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_FloatTensor:$y, TP_F32Tensor:$lse);
  let whole = "s t d";
  let moreDefinitions = [{
    ::colrow::tp::GradientFlow $cppClass::getFlow(unsigned result, unsigned) {
      return result == 0 ? ::colrow::tp::GradientFlow::Built
                         : ::colrow::tp::GradientFlow::Missing;
    }
    ::mlir::Value $cppClass::getIndexedValue() { return getQ(); }
    std::optional<double> $cppClass::getPaddingValue(
        unsigned result, ::llvm::ArrayRef<std::optional<double>> operands) {
      return result == 0 && operands[2] == 0.0 ? operands[2] : std::nullopt;
    }
  }];
}

def TP_AttentionGradOp : TP_RuleOp<"attention_grad",
    "q: b s m g d, k: b t m d, v: b t m d, lse: b s m g, dy: b s m g d -> dq: b s m g d, dk: b t m d, dv: b t m d",
    [Plan, Costed],
    ["getIndexedValue"]> {
  let summary = "gradients of tp.attention in q, k and v";
  let description = [{
    ```mlir
    %dq, %dk, %dv = tp.attention_grad %q, %k, %v, %lse, %dy {scale = 0.5 : f64, causal} : (tensor<2x3x5x2x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x2xf32>, tensor<2x3x5x2x4xf32>) -> (tensor<2x3x5x2x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>)
    ```
  }];
  let arguments = (ins TP_FloatTensor:$q, TP_FloatTensor:$k, TP_FloatTensor:$v,
                       TP_F32Tensor:$lse, TP_FloatTensor:$dy, TP_FiniteAttr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<TP_FractionAttr, "0.0">:$dropout,
                       DefaultValuedAttr<TP_IdAttr, "0">:$id,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_FloatTensor:$dq, TP_FloatTensor:$dk, TP_FloatTensor:$dv);
  let whole = "s t d";
  let linear = "dy";
  // dv = p^T dy, and dq and dk are linear in dy too.
  let paddingZeroIf = ["dy"];
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getQ(); }
  }];
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

def TP_CrossEntropyOp : TP_RuleOp<"cross_entropy",
    "logits: * v, labels: * -> sum:, count:",
    [GradientFlow, IndexingSome, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "sum of -log softmax(logits)[label], and the number of labels";
  let description = [{
    Labels equal to `ignore` count in neither result. A composite:
    `tp-insert-conjugates` decomposes it into a maximum, a sum and a pick of
    [*] values each, so that the collectives of a split vocabulary are visible.

    ```mlir
    %sum, %count = tp.cross_entropy %logits, %labels : (tensor<2x5x7xf32>, tensor<2x5xi32>) -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let arguments = (ins TP_FloatTensor:$logits, TP_IntTensor:$labels,
                       DefaultValuedAttr<TP_LabelAttr, "-100">:$ignore);
  let results = (outs TP_Scalar:$sum, TP_Scalar:$count);
  let decompose = "v";
}

def TP_RowMaxOp : TP_RuleOp<"row_max", "x: * v -> y: *", [Rows]> {
  let summary = "maximum over the last dimension; has no gradient";
  let description = [{
    ```mlir
    %y = tp.row_max %x : (tensor<5x7xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_F32Tensor:$y);
  let isMax = 1;
  let neutralPadding = "-inf";
}

def TP_SumExpOp : TP_RuleOp<"sum_exp", "x: * v, max: * -> y: *",
    [Differentiable, GradientFlow, Rows]> {
  let summary = "sum over the last dimension of exp(x - max)";
  let description = [{
    `max` keeps the exponentials small and stands for no mathematics: in
    log(sumexp) + max it cancels, whatever it is, and so does its gradient. Where
    the sum goes into a `tp.token_loss` with the same `max` its gradient is zero;
    elsewhere there is none.

    ```mlir
    %y = tp.sum_exp %x, %max : (tensor<5x7xf32>, tensor<5xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_F32Tensor:$max);
  let results = (outs TP_F32Tensor:$y);
  let neutralPadding = "-inf";
}

def TP_SumExpGradOp : TP_RuleOp<"sum_exp_grad", "x: * v, max: *, dy: * -> dx: * v", [Rows],
    ["getPaddingValue"]> {
  let summary = "gradient of tp.sum_exp in x: exp(x - max) dy";
  let description = [{
    ```mlir
    %dx = tp.sum_exp_grad %x, %max, %dy : (tensor<5x7xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_F32Tensor:$max, TP_F32Tensor:$dy);
  let results = (outs TP_FloatTensor:$dx);
  let linear = "dy";
  let neutralPadding = "-inf";
  let moreDefinitions = [{
    std::optional<double> $cppClass::getPaddingValue(
        unsigned, ::llvm::ArrayRef<std::optional<double>> operands) {
      if (operands[0] == -std::numeric_limits<double>::infinity())
        return 0.0;
      return std::nullopt;
    }
  }];
}

def TP_PickOp : TP_RuleOp<"pick", "x: * v, labels: * -> y: *",
    [Differentiable, Indexing, RowsOwnSpace],
    ["getIndexedValue"]> {
  let summary = "x[*, label], zero where the label is not in 0..v";
  let description = [{
    ```mlir
    %y = tp.pick %x, %labels : (tensor<5x7xf32>, tensor<5xi32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x, TP_IntTensor:$labels,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_F32Tensor:$y);
  let linear = "x";
  // Padding is never picked, whatever it holds.
  let neutralPadding = "any";
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getX(); }
  }];
}

def TP_PickGradOp : TP_RuleOp<"pick_grad", "labels: *, dy: * -> dx: * v", [Rows],
    ["getIndexedValue", "getPaddingValue"]> {
  let summary = "gradient of tp.pick: dy at the label, zero elsewhere";
  let description = [{
    ```mlir
    %dx = tp.pick_grad %labels, %dy : (tensor<5xi32>, tensor<5xf32>) -> tensor<5x7xf32>
    ```
  }];
  let arguments = (ins TP_IntTensor:$labels, TP_F32Tensor:$dy,
                       OptionalAttr<TP_LayoutAttr>:$layout);
  let results = (outs TP_FloatTensor:$dx);
  let linear = "dy";
  let moreDefinitions = [{
    ::mlir::Value $cppClass::getIndexedValue() { return getDx(); }
    std::optional<double> $cppClass::getPaddingValue(
        unsigned, ::llvm::ArrayRef<std::optional<double>>) {
      return 0.0;
    }
  }];
}

def TP_TokenLossOp : TP_RuleOp<"token_loss",
    "max: *, sumexp: *, picked: *, labels: * -> sum:, count:",
    [Differentiable, GradientFlow, IndexingSome, Rows], ["getNeutralPadding"]> {
  let summary = "sum of log(sumexp) + max - picked over valid labels; their number";
  let description = [{
    The gradient goes to `sumexp` and `picked`. That in `max` is zero if it is
    what the `tp.sum_exp` that made `sumexp` subtracted; else there is none.

    ```mlir
    %sum, %count = tp.token_loss %max, %sumexp, %picked, %labels {ignore = 2 : i64} : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xi32>) -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let arguments = (ins TP_F32Tensor:$max, TP_F32Tensor:$sumexp,
                       TP_F32Tensor:$picked, TP_IntTensor:$labels,
                       TP_LabelAttr:$ignore);
  let results = (outs TP_Scalar:$sum, TP_Scalar:$count);
}

def TP_TokenLossGradOp : TP_RuleOp<"token_loss_grad", "sumexp: *, labels: *, dsum: -> dsumexp: *, dpicked: *", [Rows]> {
  let summary = "gradients of tp.token_loss in sumexp and picked";
  let description = [{
    ```mlir
    %dsumexp, %dpicked = tp.token_loss_grad %sumexp, %labels, %dsum {ignore = 2 : i64} : (tensor<5x7xf32>, tensor<5x7xi32>, tensor<f32>) -> (tensor<5x7xf32>, tensor<5x7xf32>)
    ```
  }];
  let arguments = (ins TP_F32Tensor:$sumexp, TP_IntTensor:$labels,
                       TP_Scalar:$dsum, TP_LabelAttr:$ignore);
  let results = (outs TP_F32Tensor:$dsumexp, TP_F32Tensor:$dpicked);
  let linear = "dsum";
}

def TP_MeanOp : TP_RuleOp<"mean", "sum:, count: -> y:",
    [Differentiable, GradientFlow, Rows]> {
  let summary = "sum divided by count, which has no gradient";
  let description = [{
    ```mlir
    %y = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins TP_Scalar:$sum, TP_Scalar:$count);
  let results = (outs TP_Scalar:$y);
  let linear = "sum";
}

def TP_SeedOp : TP_RuleOp<"seed", "-> y:", [Rows, Costed]> {
  let summary = "gradient of the loss in itself: 1";
  let description = [{
    What the backward begins with; `tp-differentiate` makes it, once.

    ```mlir
    %y = tp.seed : () -> tensor<f32>
    ```
  }];
  let results = (outs TP_Scalar:$y);
}

def TP_ConstantOp : TP_RuleOp<"constant", "-> y:", [Rows, Costed]> {
  let summary = "a constant scalar";
  let description = [{
    ```mlir
    %y = tp.constant {value = 2.0 : f64} : () -> tensor<f32>
    ```
  }];
  let arguments = (ins TP_FiniteAttr:$value);
  let results = (outs TP_Scalar:$y);
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

def TP_SumSquaresOp : TP_RuleOp<"sum_squares", "x: * -> y: r",
    [RowsOwnSpace, Costed]> {
  let summary = "sum of squares of all elements, by the size of the elements";
  let description = [{
    Three sums, which add up over tensors and ranks without overflow or
    underflow (Blue, 1978; Anderson, 2017): of (2^90 x)^2 for |x| < 2^-50, of
    x^2 for those between, of (2^-90 x)^2 for |x| >= 2^43 and NaN. Up to 2^40
    elements fit each. tp.clip joins them.

    ```mlir
    %y = tp.sum_squares %x : (tensor<8x4xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins TP_FloatTensor:$x);
  let results = (outs TP_Squares:$y);
  let whole = "r";
}

def TP_ClipOp : TP_RuleOp<"clip", "squares: r -> norm:, scale:",
    [RowsOwnSpace]> {
  let summary = "gradient norm from tp.sum_squares, and the scale that clips it";
  let description = [{
    norm = the square root of all squares; scale = min(1, max_norm / (norm +
    1e-6)), or 1 without max_norm; infinite where norm * scale is not below 2^63,
    whose square would overflow, which keeps the old values in tp.adamw.

    ```mlir
    %norm, %scale = tp.clip %y {max_norm = 1.0 : f64} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let arguments = (ins TP_Squares:$squares, OptionalAttr<TP_PositiveAttr>:$max_norm);
  let results = (outs TP_Scalar:$norm, TP_Scalar:$scale);
  let whole = "r";
}

def TP_AdamWOp : TP_RuleOp<"adamw", "p: *, g: *, m: *, v: *, scale: -> new_p: *, new_m: *, new_v: *",
    [Rows, Costed]> {
  let summary = "one AdamW step with decoupled decay";
  let description = [{
    g = scale * gradient; p -= lr decay p; m = beta1 m + (1-beta1) g;
    v = beta2 v + (1-beta2) g^2; p -= lr (m / (1-beta1^t)) /
    (sqrt(v / (1-beta2^t)) + eps) (Loshchilov and Hutter, 2019). If `scale` is
    not finite all three keep their values. Learning rate and bias corrections
    are set by the host before the step.

    ```mlir
    %new_p, %new_m, %new_v = tp.adamw %p, %g, %m, %v, %scale {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, decay = 0.01 : f64} : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<f32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
    ```
  }];
  let arguments = (ins TP_F32Tensor:$p, TP_FloatTensor:$g, TP_F32Tensor:$m,
                       TP_F32Tensor:$v, TP_Scalar:$scale, TP_FractionAttr:$beta1,
                       TP_FractionAttr:$beta2, TP_PositiveAttr:$eps, TP_NotNegativeAttr:$decay);
  let results = (outs TP_F32Tensor:$new_p, TP_F32Tensor:$new_m,
                      TP_F32Tensor:$new_v);
  let paddingOf = "g";
}

#endif // COLROW_TP_MATH_OPS_TD
