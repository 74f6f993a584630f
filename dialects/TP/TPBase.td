// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tp dialect, its attributes and its interfaces.

#ifndef COLROW_TP_BASE_TD
#define COLROW_TP_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def TP_Dialect : Dialect {
  let name = "tp";
  let cppNamespace = "::colrow::tp";
  let summary = "Transformers and their partition over a device mesh";
  let description = [{
    Graph ops on whole tensors, layouts in the tensors' types, the changes of
    layout f and g, and collectives on local tensors. An op lives from import
    to the kernels; what changes on the way is its types: plain in [graph],
    with a layout in [step], plain and local in [local].

    A module may have several functions, which share its symbols and become
    programs of one plan. One of them is trained; those with `tp.forward` are
    forward only, to evaluate by.

    ```mlir
    tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
    func.func @evaluate(%x: tensor<2x4xf32>) -> (tensor<2x8xf32> {tp.role = "logits"}) attributes {tp.forward} {
      %w = tp.param @w : tensor<8x4xf32>
      %y = tp.matmul %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
      return %y : tensor<2x8xf32>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    RuleCache &getRules() { return *rules; }

  private:
    std::unique_ptr<RuleCache> rules;
  }];
}

class TP_Attr<string name, string mnem, list<Trait> traits = []>
    : AttrDef<TP_Dialect, name, traits> {
  let mnemonic = mnem;
}

//===----------------------------------------------------------------------===//
// Numbers with a range
//===----------------------------------------------------------------------===//

// Kernels compute in float32, so a number is judged by what it is there.
class TP_F64<string condition, string wanted> : ConfinedAttr<F64Attr,
    [AttrConstraint<CPred<"::colrow::tp::detail::" # condition #
         "(::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble())">, wanted>]>;
class TP_I64<string low, string high, string wanted> : ConfinedAttr<I64Attr,
    [AttrConstraint<And<[
         CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getInt() >= " # low>,
         CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getInt() <= " # high>]>, wanted>]>;

def TP_FiniteAttr : TP_F64<"isFinite", "that is finite in float32">;
def TP_PositiveAttr : TP_F64<"isPositive", "that is positive and finite in float32">;
def TP_NotNegativeAttr : TP_F64<"isNotNegative", "that is finite in float32 and at least 0">;
def TP_FractionAttr : TP_F64<"isFraction", "from 0 to less than 1">;
def TP_NeutralAttr : TP_F64<"isNeutral", "that is an integer or negative infinity">;
// What keys random draws: a word of Philox' counter.
def TP_IdAttr : TP_I64<"0", "0xffffffffll", "from 0 to 4294967295">;
def TP_LabelAttr : TP_I64<"std::numeric_limits<int32_t>::min()", "std::numeric_limits<int32_t>::max()",
                          "that fits a label's 32 bits">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def TP_MeshAttr : TP_Attr<"Mesh", "mesh"> {
  let summary = "named mesh axes, outermost first";
  let description = [{
    `#tp.mesh<"dp"=2 batch, "tp"=4>`. The last axis is innermost: neighbouring
    ranks. An axis without a role is a feature axis.

    **Constraints**
    - C1: names are not empty and differ.
    - C2: sizes are from 1 to 65536, and there are at most 8 axes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes,
                        ArrayRefParameter<"bool">:$batch);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static MeshAttr get(::mlir::MLIRContext *context,
                        const ::colrow::layout::Mesh &mesh);
    /// The mesh as a plain struct.
    ::colrow::layout::Mesh getMesh() const;
  }];
  let skipDefaultBuilders = 0;
}

def TP_LayoutAttr : TP_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tensor lies on a mesh; the encoding of its type";
  let description = [{
    One entry a dimension: `_` where it is whole, else its factors, major to
    minor: `{6 pad 8 over "tp"}`, `{2, 8 over "tp"}`. Then the axes on which it
    is copied or partial. On every axis that is not named it is replicated.

    ```mlir
    #mesh = #tp.mesh<"tp"=4>
    func.func private @split(tensor<4x60xf32, #tp.layout<#mesh, [_, {60 pad 80 over "tp"} ]>>)
    func.func private @partial(tensor<4x60xf32, #tp.layout<#mesh, [_, _] partial "tp">>)
    ```

    **Constraints**
    - C1: as many entries as the tensor has dimensions.
    - C2: the factors' product is the dimension.
    - C3: the number of blocks divides the padded size.
    - C4: only a split factor is padded.
    - C5: an axis is used once, and the mesh has it.
  }];
  // The layout in a flat form, so that it can be uniqued; see encode().
  let parameters = (ins "MeshAttr":$mesh, ArrayRefParameter<"int64_t">:$flat);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Puts `layout` into canonical form first.
    static LayoutAttr get(MeshAttr mesh, ::colrow::layout::Layout layout);
    /// Everything replicated.
    static LayoutAttr replicated(MeshAttr mesh, unsigned rank);
    ::colrow::layout::Layout getLayout() const;
    LayoutAttr dual() const { return get(getMesh(), getLayout().dual()); }
  }];
}

def TP_InitKind : I32EnumAttr<"InitKind", "how a parameter is drawn", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Constant", 2, "constant">, I32EnumAttrCase<"Normal", 3, "normal">]> {
  let cppNamespace = "::colrow::tp";
  let genSpecializedAttr = 0;
}

def TP_InitAttr : TP_Attr<"Init", "init"> {
  let summary = "how a parameter is drawn when no checkpoint gives it";
  let description = [{
    `#tp.init<zeros>`, `#tp.init<ones>`, `#tp.init<constant 2.0>`,
    `#tp.init<normal 0.0, 0.02>` (mean, standard deviation).

    **Constraints**
    - C1: mean and deviation are finite in float32; the deviation is not negative.
  }];
  let parameters = (ins EnumParameter<TP_InitKind>:$kind,
                        "::mlir::FloatAttr":$mean, "::mlir::FloatAttr":$std);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static InitAttr get(::mlir::MLIRContext *context, ::colrow::tp::InitKind kind,
                        double mean = 0, double std = 0);
  }];
}

def TP_SourceAttr : TP_Attr<"Source", "source"> {
  let summary = "one tensor of a checkpoint from which a parameter is made";
  let description = [{
    Applied in this order: the file's tensor of `shape`, reshaped to `reshape`,
    sliced per dimension by start, step and size, permuted (`perm[i]` is the
    sliced dimension that becomes dimension i), reshaped to the parameter.
    Several sources are joined along the parameter's first dimension.

    What changes nothing is not printed: a tensor as it is has its shape only.

    ```mlir
    // Q of GPT-2's fused [in, 3*out] weight, stored [out, in]
    tp.parameter @q : tensor<64x64xf32> {id = 0 : i64, init = #tp.init<zeros>,
      source = [#tp.source<"h.0.attn.c_attn.weight" : [64, 192] size [64, 64] perm [1, 0]>]}
    // an embedding
    tp.parameter @wte : tensor<256x64xf32> {id = 1 : i64, init = #tp.init<zeros>,
      source = [#tp.source<"wte.weight" : [256, 64]>]}
    ```

    **Constraints**
    - C1: `reshape` holds as many elements as `shape`.
    - C2: start, step, size and perm have one entry a dimension of `reshape`.
    - C3: every slice lies inside its dimension; steps are at least 1.
    - C4: `perm` is a permutation.
    - C5: it has a name, and its sizes are positive and make at most 2^46 elements.
  }];
  let parameters = (ins StringRefParameter<"tensor name">:$name,
                        ArrayRefParameter<"int64_t">:$shape,
                        ArrayRefParameter<"int64_t">:$reshape,
                        ArrayRefParameter<"int64_t">:$start,
                        ArrayRefParameter<"int64_t">:$step,
                        ArrayRefParameter<"int64_t">:$size,
                        ArrayRefParameter<"int64_t">:$perm);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TP_Reduction : I32EnumAttr<"Reduction", "what a collective makes of the ranks' values", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::colrow::tp";
  let genSpecializedAttr = 0;
}
def TP_ReductionAttr : EnumAttr<TP_Dialect, TP_Reduction, "reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

def TP_InputRole : I32EnumAttr<"InputRole", "what fills an input", [
    I32EnumAttrCase<"Ids", 0, "ids">, I32EnumAttrCase<"Labels", 1, "labels">,
    I32EnumAttrCase<"Data", 2, "data">]> {
  let cppNamespace = "::colrow::tp";
  let genSpecializedAttr = 0;
}

def TP_InputAttr : TP_Attr<"Input", "input"> {
  let summary = "where an argument of the step comes from";
  let description = [{
    The argument attribute `tp.input`. `ids` (shape [batch, seq]) and `labels`
    ([batch, seq + 1]) are filled from token files, and all, `data` too, from
    files of batches by `name`. `batch` is the dimension that counts samples:
    of tokens the first; data without one gets the whole tensor in every step.
    Integers lie in `low` to `high - 1`, or are `padding`, which is what rows
    hold that no sample fills: what the loss ignores where it is labels, so that
    such rows count for nothing, else 0. `tp-complete-inputs` makes all of it
    explicit, and takes a missing range from what the values index.
    `tp.role = "ids"` and `tp.role = "labels"` are short for
    `#tp.input<ids "input_ids">` and `#tp.input<labels "labels">`.

    ```mlir
    func.func @main(
        %ids: tensor<4x16xi32> {tp.input = #tp.input<ids "input_ids">},
        %kinds: tensor<4x16xi32> {tp.input = #tp.input<data "token_type_ids", batch = 0, low = 0, high = 2>}) {
      return
    }
    ```

    **Constraints**
    - C1: the name is not empty.
    - C2: `low` and `high` stand together, and low < high.
    - C3 (of the argument): `batch` is one of its dimensions; ids and labels
      have rank 2 and integer elements, which hold range and padding.
    - C4 (of the function): names differ, and one argument at most has the role
      ids, one labels.
  }];
  let parameters = (ins EnumParameter<TP_InputRole>:$role,
                        StringRefParameter<"name">:$name,
                        OptionalParameter<"std::optional<int64_t>">:$batch,
                        OptionalParameter<"std::optional<int64_t>">:$low,
                        OptionalParameter<"std::optional<int64_t>">:$high,
                        OptionalParameter<"std::optional<int64_t>">:$padding);
  let assemblyFormat = [{
    `<` $role $name (`,` struct($batch, $low, $high, $padding)^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimension that counts samples: of tokens the first, of data none
    /// unless `batch` says it.
    std::optional<int64_t> getBatchDimension() const {
      bool tokens = getRole() != ::colrow::tp::InputRole::Data;
      return getBatch() || !tokens ? getBatch() : 0;
    }
    /// What rows without a sample hold: labels that the loss ignores by
    /// default, zero otherwise.
    int64_t getPaddingValue() const {
      bool labels = getRole() == ::colrow::tp::InputRole::Labels;
      return getPadding().value_or(labels ? -100 : 0);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

def ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    How an op may be split, as data: solver, verifier, partitioner and cost
    model are written once over it.
  }];
  let verify = [{
    return ::llvm::failure(
        ::llvm::failed(::colrow::tp::detail::verifyShardable($_op)) ||
        ::llvm::failed(::colrow::tp::detail::verifyIndexedValue($_op)));
  }];
  let methods = [
    InterfaceMethod<"Binds the factor rule to this op's whole shapes; fails if "
                    "they do not fit. It depends on the types and the absent "
                    "operands alone; tp::getRule() binds once.",
      "::llvm::Expected<::colrow::layout::FactorRule>", "getFactorRule">,
    InterfaceMethod<"The constant that padding holds in result `result` along a "
                    "padded dimension, given what it holds in the operands "
                    "(nullopt: not known; NaN: the operand is not split there).",
      "std::optional<double>", "getPaddingValue",
      (ins "unsigned":$result,
           "::llvm::ArrayRef<std::optional<double>>":$operands),
      [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"What padding must hold in operand `operand`, which is split "
                    "on a padded factor that the op sums over or not: 0 for a "
                    "sum, -inf for a maximum, the label that counts for nothing, "
                    "NaN if it does not matter.",
      "double", "getNeutralPadding", (ins "unsigned":$operand, "bool":$summed),
      [{}], [{
        return summed ? 0.0 : std::numeric_limits<double>::quiet_NaN();
      }]>,
    InterfaceMethod<"The tensor whose position in the whole tensor the op needs "
                    "to know after partition (a table indexed by ids, a value "
                    "with a random mask): an operand or result; null if none.",
      "::mlir::Value", "getIndexedValue", (ins), [{}],
      [{ return ::mlir::Value(); }]>
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    Builds an op's backward ops. Layouts come by themselves: a gradient's type
    is the dual of its value's type.
  }];
  let methods = [
    InterfaceMethod<"Builds the gradients of the operands from those of the "
                    "results (null where a result has none). `wanted[i]` says "
                    "whether operand i needs one; null is returned for others.",
      "::llvm::SmallVector<::mlir::Value>", "buildGradients",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ValueRange":$resultGradients,
           "::llvm::ArrayRef<bool>":$wanted)>
  ];
}

def GradientFlowOpInterface : OpInterface<"GradientFlowOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    Which results' gradients flow into which operands, where that is not all of
    them; `getGradientFlow` asks it. What is neither built nor zero is refused
    by `tp-differentiate` as soon as a parameter wants it: no gradient is left
    out in silence.
  }];
  let methods = [
    InterfaceMethod<"What becomes of the gradient of result `result` in operand "
                    "`operand`; both are floats.",
      "::colrow::tp::GradientFlow", "getFlow",
      (ins "unsigned":$result, "unsigned":$operand)>
  ];
}

def CostedOpInterface : OpInterface<"CostedOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    What an op does on one rank, as a work item, where that is not the default:
    an op of row kernels writes its results, and its operands were counted where
    they were made; others do nothing (`tp::workOf`).
  }];
  let methods = [
    InterfaceMethod<"The op's work on its local shapes, whether its types are "
                    "whole with layouts or local; none if it does nothing.",
      "std::optional<::colrow::cost::WorkItem>", "getWork",
      (ins "const ::colrow::layout::Mesh &":$mesh)>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    A composite op. `tp-insert-conjugates` replaces it by its parts, so that the
    collectives between them are visible; it is priced as its parts.
  }];
  let methods = [
    InterfaceMethod<"Builds the parts, on the op's operands, and returns what "
                    "stands for its results. If the op has ways, each part gets "
                    "its own.",
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    Integers that name rows of a table or columns: they must be less than what
    they index, or the op gives nothing for them.
  }];
  let methods = [
    InterfaceMethod<"What the integers of operand `operand` index, on whole "
                    "shapes: they mean something from 0 to this, exclusively. "
                    "nullopt if they index nothing.",
      "std::optional<int64_t>", "getIndexedSize", (ins "unsigned":$operand)>,
    InterfaceMethod<"Adds the integers of operand `operand` that stand for "
                    "nothing, so that rows of them count for nothing: one for "
                    "each op that takes them.",
      "void", "addIgnored",
      (ins "unsigned":$operand, "::llvm::SmallVectorImpl<int64_t> &":$ignored),
      [{}], [{ return; }]>
  ];
}

def RowLowerableOpInterface : OpInterface<"RowLowerableOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    The mathematics of a memory-bound op on local tensors, written once over
    rows; kernels for every target come from it.
  }];
  let methods = [
    InterfaceMethod<"Adds this op to the kernel that `lowering` builds.",
      "void", "lowerToRows", (ins "::colrow::tp::RowLowering &":$lowering)>,
    InterfaceMethod<"Shape [rows..., columns] over which the op runs.",
      "::llvm::SmallVector<int64_t>", "getSpace", (ins), [{}],
      [{ return ::colrow::tp::detail::largestShape($_op); }]>
  ];
}

def PlanLowerableOpInterface : OpInterface<"PlanLowerableOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    An op on local tensors that becomes library calls, collectives, or loops of
    calls and kernels in the plan, rather than rows of a fused kernel.
  }];
  let methods = [
    InterfaceMethod<"Appends this op's instructions.",
      "void", "lowerToPlan", (ins "::colrow::tp::PlanLowering &":$lowering)>
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    What an op does over the ranks of mesh axes: the collectives on local
    tensors, the local slice, and the changes of layout that become them.
  }];
  let methods = [
    InterfaceMethod<"Names of the axes, outermost first.",
      "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"What it is there for, in words; null if nobody says.",
      "::mlir::StringAttr", "getReasonAttr">,
    InterfaceMethod<"Dimension that it splits or joins; none if all ranks hold "
                    "the whole before and after.",
      "std::optional<int64_t>", "getDimension", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"What it makes of the ranks' values; none if it moves them "
                    "only.",
      "std::optional<::colrow::tp::Reduction>", "getReductionKind", (ins), [{}],
      [{ return std::nullopt; }]>
  ];
}

/// The gradient table of changes of layout: each op knows its conjugate.
def LayoutChangeOpInterface : OpInterface<"LayoutChangeOpInterface"> {
  let cppNamespace = "::colrow::tp";
  let description = [{
    A change of layout: one value, another state on some axes. Its gradient is
    its conjugate, read with the types backwards through their duals.
  }];
  let methods = [
    StaticInterfaceMethod<"State before, on each of the axes.",
      "::colrow::layout::StateKind", "getFrom">,
    StaticInterfaceMethod<"State after.",
      "::colrow::layout::StateKind", "getTo">,
    StaticInterfaceMethod<"Name of the op that is the gradient of this one.",
      "::llvm::StringRef", "getConjugateName">
  ];
}

#endif // COLROW_TP_BASE_TD
