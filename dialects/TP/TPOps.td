// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base classes of tp ops, and the ops that are not mathematics: symbols,
// changes of layout, collectives. The others stand in MathOps.td.

#ifndef COLROW_TP_OPS_TD
#define COLROW_TP_OPS_TD

include "TPBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/CommonAttrConstraints.td"

def TP_Tensor : StaticShapeTensorOf<[F32, BF16, I32, I64, I1]>;
// How types go together: the TP_FloatTensor of an op have one element type, and
// so have its TP_IntTensor (TP_OneTypeOf). What is f32 whatever the others are,
// because float32 is needed for it, is a TP_F32Tensor or TP_Scalar: statistics
// of rows, sums over rows, the loss, what the optimizer keeps.
def TP_FloatTensor : StaticShapeTensorOf<[F32, BF16]>;
def TP_F32Tensor : StaticShapeTensorOf<[F32]>;
// Shares of gradients that are rounded: see tp.round_share.
def TP_BF16Tensor : StaticShapeTensorOf<[BF16]>;
def TP_IntTensor : StaticShapeTensorOf<[I32, I64]>;
def TP_Scalar : 0DTensorOf<[F32]>;
// What a contraction of a TP_FloatTensor gives: see TP_ProductOf.
def TP_ProductTensor : StaticShapeTensorOf<[F32, BF16]>;
// Of tp.cast, whose types differ.
def TP_CastTensor : StaticShapeTensorOf<[F32, BF16]>;
// Sums of squares of small, middle and large values: see tp.sum_squares.
def TP_Squares : Type<And<[1DTensorOf<[F32]>.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getShape() == ::llvm::ArrayRef<int64_t>{3}">]>,
    "3 sums of squares: tensor<3xf32>", "::mlir::RankedTensorType">;

/// Names of those operands and results that are declared as `type`.
class TP_NamesOf<string type, dag values> {
  list<int> places = !filter(i, !range(!size(values)),
      !if(!initialized(!getdagarg<Constraint>(values, i)),
          !eq(!cast<string>(!getdagarg<Constraint>(values, i)), type), false));
  list<string> names = !foreach(i, places, !getdagname(values, i));
}
/// All operands and results declared as `type` have one element type.
class TP_OneTypeOf<string type, dag operands, dag results> {
  list<string> names = TP_NamesOf<type, operands>.names # TP_NamesOf<type, results>.names;
  list<Trait> traits = !if(!gt(!size(names), 1), [AllElementTypesMatch<names>], []);
}

/// The result of a contraction is of its operands' type, or f32, in which it
/// adds.
class TP_ProductOf<string result, string operand>
    : PredOpTrait<result # " has the element type of " # operand # " or f32",
        CPred<"::colrow::tp::detail::isProductType($" # result # ".getType(), $"
              # operand # ".getType())">>;

class TP_Op<string mnem, list<Trait> ownTraits = []> : Op<TP_Dialect, mnem> {
  let traits = ownTraits # TP_OneTypeOf<"TP_FloatTensor", arguments, results>.traits
                         # TP_OneTypeOf<"TP_IntTensor", arguments, results>.traits;
}

/// The names of the operands, or results, in `values`, in order and parted by
/// spaces: attributes have none of a type constraint.
class TP_Names<dag values> {
  list<string> all = !foldl([]<string>, !range(!size(values)), seen, i,
      !if(!initialized(!getdagarg<TypeConstraint>(values, i)),
          !listconcat(seen, [!getdagname(values, i)]), seen));
  string names = !interleave(all, " ");
}

/// Place of the operand `name` among the operands, of which none is optional.
class TP_OperandIndex<string name, dag arguments> {
  list<string> names = TP_Names<arguments>.all;
  list<int> found = !filter(i, !range(!size(names)), !eq(names[i], name));
  int index = !head(found);
}

/// Those methods about padding that an op does not override itself.
class TP_PaddingMethods<list<string> overrides> {
  list<string> names = !listremove(["getPaddingValue", "getNeutralPadding"], overrides);
}

/// The definitions of `methods`, from the fields of TP_RuleOp.
class TP_PaddingDefinitions<list<string> zeroIf, string of, string neutral, dag arguments,
                            list<string> methods> {
  string zero = !interleave(!foreach(name, zeroIf,
      "operands[" # TP_OperandIndex<name, arguments>.index # "] == 0.0"), " || ");
  string known = !if(!empty(of), "std::nullopt",
      "operands[" # TP_OperandIndex<of, arguments>.index # "]");
  string value = !if(!empty(zeroIf), known, "(" # zero # ") ? std::optional(0.0) : " # known);
  string wanted = !cond(
      !eq(neutral, "-inf") : "-std::numeric_limits<double>::infinity()",
      !eq(neutral, "any") : "std::numeric_limits<double>::quiet_NaN()",
      !eq(neutral, "") : "summed ? 0.0 : std::numeric_limits<double>::quiet_NaN()");
  list<string> ofResults = !filter(name, methods, !eq(name, "getPaddingValue"));
  list<string> ofOperands = !filter(name, methods, !eq(name, "getNeutralPadding"));
  string text = !if(!empty(ofResults), "", [{
    std::optional<double> $cppClass::getPaddingValue(
        unsigned, ::llvm::ArrayRef<std::optional<double>> operands) {
      return }] # value # [{;
    }
  }]) # !if(!empty(ofOperands), "", [{
    double $cppClass::getNeutralPadding(unsigned, bool summed) {
      return }] # wanted # [{;
    }
  }]);
}

/// An op with a factor rule, which names the operands and results as ODS does:
/// "x: * h, w: k h, bias?: k -> y: * k". `whole` factors may not be split;
/// `stats` factors need a statistic when split; `decompose` factors are split
/// by decomposing the op, whose results are then R; `linear` lists the sets of
/// operands in which the op is jointly linear, sets parted by '|'.
///
/// Padding of the results is 0 where that of an operand in `paddingZeroIf` is,
/// or what that of the operand `paddingOf` is, or else unknown. Padding that is
/// read must be neutral: 0 where the op sums over it; `neutralPadding` = "-inf"
/// says that, or "any" that it does not matter.
///
/// `overrides` names the methods of ShardableOpInterface that these fields do
/// not tell and `moreDefinitions` defines.
class TP_RuleOp<string mnem, string ruleText, list<Trait> traits = [],
                list<string> overrides = []>
    : TP_Op<mnem, traits # [Pure, DeclareOpInterfaceMethods<ShardableOpInterface,
          TP_PaddingMethods<overrides>.names # overrides>]> {
  string rule = ruleText;
  string whole = "";
  string stats = "";
  string linear = "";
  string decompose = "";
  bit isMax = 0;
  list<string> paddingZeroIf = [];
  string paddingOf = "";
  string neutralPadding = "";
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  // Methods beyond the rule; an op with some of its own appends here.
  code moreDefinitions = "";
  let extraClassDefinition = [{
    ::llvm::Expected<::colrow::layout::FactorRule> $cppClass::getFactorRule() {
      static constexpr ::colrow::layout::RuleText text = {
          /*factors=*/"}] # rule # [{", /*whole=*/"}] # whole
          # [{", /*stats=*/"}] # stats # [{", /*decompose=*/"}] # decompose
          # [{", /*linear=*/"}] # linear # [{", /*maxReduction=*/}]
          # !if(isMax, "true", "false") # [{};
      return ::colrow::tp::detail::bindRule(
          *this, text, "}] # TP_Names<arguments>.names # [{", "}]
          # TP_Names<results>.names # [{", [this](unsigned i) {
            return getODSOperandIndexAndLength(i).second;
          });
    }
  }] # TP_PaddingDefinitions<paddingZeroIf, paddingOf, neutralPadding, arguments,
                             TP_PaddingMethods<overrides>.names>.text
     # moreDefinitions;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

def TP_ParameterOp : TP_Op<"parameter", [Symbol]> {
  let summary = "declare a parameter: shape, source, initial value, layouts";
  let description = [{
    Lives at module level from import to the plan. `source` maps it from a
    checkpoint (none: only `init`); `id` keys its random draw. From `tp-shard`
    on the type carries the stored layout, and `gradient` and `state` those of
    its gradient and of the optimizer's state. `tp-partition` makes the type
    local and keeps the whole one, layout included, in `whole`.

    ```mlir
    #file = #tp.source<"w" : [64, 64] as [64, 64] from [0, 0] step [1, 1] size [64, 64] perm [0, 1]>
    tp.parameter @w : tensor<64x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.02>, source = [#file]}
    ```

    **Constraints**
    - C1: the layout fits the shape (which the type checks).
    - C2: each source's elements together give the shape.
    - C3: `rank`, the rank in the checkpoint (decay and roles go by it), is at least 0.
    - C4: a stored layout is never partial or copied.
    - C5: the shape has at least one dimension, and no more than 2^46 elements.
    - C6: `type` is the block that `whole` leaves to a rank.
    - C7: no element of a checkpoint's tensor is taken twice.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<TP_FloatTensor>:$type,
                       TP_IdAttr:$id, TP_InitAttr:$init,
                       OptionalAttr<TypedArrayAttrBase<TP_SourceAttr, "sources">>:$source,
                       OptionalAttr<I64Attr>:$rank, UnitAttr:$frozen,
                       OptionalAttr<TypeAttrOf<TP_FloatTensor>>:$whole);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::mlir::cast<::mlir::RankedTensorType>(getType());
    }
    /// Rank in the checkpoint: decay and axis roles go by it.
    int64_t getCheckpointRank() {
      return getRank() ? *getRank() : getWholeType().getRank();
    }
    /// The unpartitioned type.
    ::mlir::RankedTensorType getWholeType() {
      return getWhole() ? ::mlir::cast<::mlir::RankedTensorType>(*getWhole())
                        : getTensorType();
    }
  }];
}

def TP_StateOp : TP_Op<"state", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "declare state that the optimizer keeps for a parameter";
  let description = [{
    Made by `tp-optimize`; zero at the start, saved beside the model under the
    parameter's own sources. The `master` of a bf16 parameter is its value in
    float32, which is what training moves, files hold and a start fills; the
    parameter is that, rounded.

    ```mlir
    tp.parameter @w : tensor<64x64xf32> {id = 0 : i64, init = #tp.init<zeros>}
    tp.state @w.exp_avg of @w "exp_avg" : tensor<64x64xf32>
    ```

    **Constraints**
    - C1: the parameter exists and has the same type, but for its elements:
      state is f32.
    - C2: `type` is the block that `whole` leaves to a rank.
    - C3: a master's parameter is bf16.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$parameter,
                       StrAttr:$name, TypeAttrOf<TP_F32Tensor>:$type,
                       OptionalAttr<TypeAttrOf<TP_F32Tensor>>:$whole,
                       UnitAttr:$master);
  let assemblyFormat = "$sym_name `of` $parameter $name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The unpartitioned type.
    ::mlir::RankedTensorType getWholeType() {
      return ::mlir::cast<::mlir::RankedTensorType>(getWhole().value_or(getType()));
    }
  }];
}

def TP_ParamOp : TP_Op<"param", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "read a symbol's value at the start of the step";
  let description = [{
    Not `Pure`, but it reads what only `tp.update` sets, at the end.

    The gradient of a parameter is f32. With `round_shares` a rank's share of it,
    as long as it is one (the parameter is used through `tp.f`), has the elements
    of what it is the gradient of: the collective that sums the shares moves
    bf16, and its result is widened.

    ```mlir
    tp.parameter @b : tensor<6xbf16> {id = 0 : i64, init = #tp.init<zeros>}
    func.func @read() {
      %b = tp.param @b {round_shares} : tensor<6xbf16>
      return
    }
    ```

    **Constraints**
    - C1: the symbol exists, and its type is the result's.
    - C2: `round_shares` is said of bf16.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, UnitAttr:$round_shares);
  let results = (outs Res<TP_FloatTensor, "", [MemRead]>:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

def TP_UpdateOp : TP_Op<"update", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "set a symbol's value for the next step";
  let description = [{
    Every `tp.param` reads the value at the start, also one that stands behind.

    **Constraints**
    - C1: the symbol exists, and its type is the operand's.
    - C2: it stands in the last phase.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol,
                       Arg<TP_FloatTensor, "", [MemWrite]>:$value);
  let assemblyFormat = "$symbol `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def TP_OutputOp : TP_Op<"output", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "let a value leave the step under a name";
  let description = [{
    `gradient @w` names a gradient, written through that parameter's sources;
    otherwise `name` is the value's name in the output file. `tp-partition`
    keeps the whole type in `whole` and its layout in `layout`.

    **Constraints**
    - C1: the parameter exists, and a gradient has the dual of its type, in f32.
    - C2: the value's type is the block that `whole` leaves to a rank, and
      `layout` is that of `whole`.
    - C3: other values are whole or in blocks on each axis, never a summand nor
      copied; "loss", "grad_norm" and "token_count" are whole scalars.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<FlatSymbolRefAttr>:$parameter,
                       Arg<TP_Tensor, "", [MemWrite]>:$value,
                       OptionalAttr<TP_LayoutAttr>:$layout,
                       OptionalAttr<TypeAttrOf<TP_Tensor>>:$whole);
  let assemblyFormat =
      "$name (`gradient` $parameter^)? `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

def TP_NextOp : TP_Op<"next", [Terminator]> {
  let summary = "end a phase of the step and go on to the next one";
  let description = [{
    A step's blocks are its phases: forward, backward, update, in this order.
    `tp-differentiate` makes them; a function of one block is forward only. No
    branch, so that nothing merges the blocks: what is computed in which phase
    decides what is saved for the backward and what fuses.

    ```mlir
    func.func @train() {
      %0 = tp.constant {value = 2.0 : f64} : () -> tensor<f32>
      tp.next ^backward
    ^backward:
      %1 = tp.seed : () -> tensor<f32>
      tp.next ^update
    ^update:
      return
    }
    ```

    **Constraints**
    - C1: the successor is the block that follows, and it takes no arguments.
  }];
  let successors = (successor AnySuccessor:$next);
  let assemblyFormat = "$next attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Changes of layout
//===----------------------------------------------------------------------===//

class TP_ChangeOp<string mnem, string from, string to, string conjugate>
    : TP_Op<mnem, [Pure, LayoutChangeOpInterface, CollectiveOpInterface,
                   DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let arguments = (ins TP_Tensor:$input, StrArrayAttr:$axes,
                       OptionalAttr<StrAttr>:$reason);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    static ::colrow::layout::StateKind getFrom() {
      return ::colrow::layout::StateKind::}] # from # [{;
    }
    static ::colrow::layout::StateKind getTo() {
      return ::colrow::layout::StateKind::}] # to # [{;
    }
    std::optional<int64_t> getDimension() {
      return ::colrow::tp::detail::changedDimension(*this);
    }
    std::optional<::colrow::tp::Reduction> getReductionKind() {
      return ::colrow::tp::detail::reductionOf(getFrom());
    }
    static ::llvm::StringRef getConjugateName() { return "tp.}] # conjugate # [{"; }
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::colrow::tp::detail::verifyChange(*this);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor) {
      return ::colrow::tp::detail::foldChange(*this);
    }
    ::llvm::SmallVector<::mlir::Value> $cppClass::buildGradients(
        ::mlir::OpBuilder &builder, ::mlir::ValueRange gradients,
        ::llvm::ArrayRef<bool> wanted) {
      return ::colrow::tp::detail::buildConjugate(*this, builder, gradients);
    }
  }];
}

def TP_FOp : TP_ChangeOp<"f", "Replicated", "Copied", "g"> {
  let summary = "enter a split region: identity forward, all-reduce backward";
  let description = [{
    R to C. Every rank holds the whole value before and after; what changes is
    whose the gradient is: after `f` each rank has a share of it, and the
    conjugate `tp.g` sums the shares. Megatron-LM calls it copy_to.

    What two ranks hold:

                 rank 0   rank 1
        before   x        x
        after    x        x

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #c = #tp.layout<#mesh, [_, _] copied "tp">
    func.func @f(%x: tensor<4x6xf32, #r>) -> tensor<4x6xf32, #c> {
      %y = tp.f %x over ["tp"] : tensor<4x6xf32, #r> -> tensor<4x6xf32, #c>
      return %y : tensor<4x6xf32, #c>
    }
    ```

    **Constraints** (all changes of layout)
    - C1: operand and result have the same shape and element type, and layouts on one mesh.
    - C2: on each of `axes`, which differ, the states are the op's.
    - C3: on every other axis nothing changes.
    - C4: axes leave and enter a dimension only at its minor end.
  }];
}

def TP_GOp : TP_ChangeOp<"g", "Partial", "Replicated", "f"> {
  let summary = "leave a split region: all-reduce forward, identity backward";
  let description = [{
    P to R: the summands of all ranks become their sum on every rank. `Pure`:
    a function of the operand on all ranks, which run one program.
    Megatron-LM calls it reduce_from.

    What two ranks hold:

                 rank 0    rank 1
        before   x0        x1
        after    x0 + x1   x0 + x1

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #p = #tp.layout<#mesh, [_, _] partial "tp">
    #r = #tp.layout<#mesh, [_, _]>
    func.func @g(%x: tensor<4x6xf32, #p>) -> tensor<4x6xf32, #r> {
      %y = tp.g %x over ["tp"] : tensor<4x6xf32, #p> -> tensor<4x6xf32, #r>
      return %y : tensor<4x6xf32, #r>
    }
    ```
  }];
}

def TP_GMaxOp : TP_ChangeOp<"g_max", "PartialMax", "Replicated", "f"> {
  let summary = "maximum over the ranks; only for values without gradient";
  let description = [{
    Partial maximum to R. Made by decompositions only (the maximum of split
    logits), on values that no gradient flows through.

    What two ranks hold:

                 rank 0        rank 1
        before   x0            x1
        after    max(x0, x1)   max(x0, x1)

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #m = #tp.layout<#mesh, [_, _] partial_max "tp">
    #r = #tp.layout<#mesh, [_, _]>
    func.func @g_max(%x: tensor<4x6xf32, #m>) -> tensor<4x6xf32, #r> {
      %y = tp.g_max %x over ["tp"] : tensor<4x6xf32, #m> -> tensor<4x6xf32, #r>
      return %y : tensor<4x6xf32, #r>
    }
    ```
  }];
}

def TP_GatherOp : TP_ChangeOp<"gather", "Split", "Copied", "scatter"> {
  let summary = "blocks to the whole, for consumers that do different work";
  let description = [{
    S to C: all-gather forward, reduce-scatter backward.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:3]   x[0:4, 3:6]
        after    x[0:4, 0:6]   x[0:4, 0:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    #c = #tp.layout<#mesh, [_, _] copied "tp">
    func.func @gather(%x: tensor<4x6xf32, #s>) -> tensor<4x6xf32, #c> {
      %y = tp.gather %x over ["tp"] : tensor<4x6xf32, #s> -> tensor<4x6xf32, #c>
      return %y : tensor<4x6xf32, #c>
    }
    ```
  }];
}

def TP_ScatterOp : TP_ChangeOp<"scatter", "Partial", "Split", "gather"> {
  let summary = "summands to blocks of the sum";
  let description = [{
    P to S: reduce-scatter forward, all-gather backward.

    What two ranks hold:

                 rank 0                rank 1
        before   x0                    x1
        after    (x0 + x1)[0:4, 0:3]   (x0 + x1)[0:4, 3:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #p = #tp.layout<#mesh, [_, _] partial "tp">
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    func.func @scatter(%x: tensor<4x6xf32, #p>) -> tensor<4x6xf32, #s> {
      %y = tp.scatter %x over ["tp"] : tensor<4x6xf32, #p> -> tensor<4x6xf32, #s>
      return %y : tensor<4x6xf32, #s>
    }
    ```
  }];
}

def TP_SliceOp : TP_ChangeOp<"slice", "Replicated", "Split", "unslice"> {
  let summary = "the whole to one's own block, without communication";
  let description = [{
    R to S: each rank keeps its block.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:6]   x[0:4, 0:6]
        after    x[0:4, 0:3]   x[0:4, 3:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    func.func @slice(%x: tensor<4x6xf32, #r>) -> tensor<4x6xf32, #s> {
      %y = tp.slice %x over ["tp"] : tensor<4x6xf32, #r> -> tensor<4x6xf32, #s>
      return %y : tensor<4x6xf32, #s>
    }
    ```
  }];
}

def TP_UnsliceOp : TP_ChangeOp<"unslice", "Split", "Replicated", "slice"> {
  let summary = "blocks to the whole, for consumers that repeat the same work";
  let description = [{
    S to R: all-gather forward, a local slice backward.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:3]   x[0:4, 3:6]
        after    x[0:4, 0:6]   x[0:4, 0:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    #r = #tp.layout<#mesh, [_, _]>
    func.func @unslice(%x: tensor<4x6xf32, #s>) -> tensor<4x6xf32, #r> {
      %y = tp.unslice %x over ["tp"] : tensor<4x6xf32, #s> -> tensor<4x6xf32, #r>
      return %y : tensor<4x6xf32, #r>
    }
    ```
  }];
}

def TP_AllToAllOp : TP_ChangeOp<"all_to_all", "Split", "Split", "all_to_all"> {
  let summary = "a split on one dimension to a split on another";
  let description = [{
    S to S: experts; heads to sequence.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:3]   x[0:4, 3:6]
        after    x[0:2, 0:6]   x[2:4, 0:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    #t = #tp.layout<#mesh, [{4 over "tp"}, _]>
    func.func @all_to_all(%x: tensor<4x6xf32, #s>) -> tensor<4x6xf32, #t> {
      %y = tp.all_to_all %x over ["tp"] : tensor<4x6xf32, #s> -> tensor<4x6xf32, #t>
      return %y : tensor<4x6xf32, #t>
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Collectives on local tensors
//===----------------------------------------------------------------------===//

class TP_CollectiveOp<string mnem>
    : TP_Op<mnem, [Pure, CollectiveOpInterface, DeclareOpInterfaceMethods<PlanLowerableOpInterface>,
                   DeclareOpInterfaceMethods<CostedOpInterface>]> {
  let hasVerifier = 1;
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
}

def TP_AllReduceOp : TP_CollectiveOp<"all_reduce"> {
  let summary = "sum or maximum over the ranks of the axes";
  let description = [{
    Before: rank r holds x_r. After: every rank holds the sum (or maximum) over
    r, the same bits everywhere. `Pure`, since every rank of the group runs the
    same program and so reaches it.

    What two ranks hold:

                 rank 0    rank 1
        before   x0        x1
        after    x0 + x1   x0 + x1

    ```mlir
    func.func @all_reduce(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %y = tp.all_reduce %x over ["tp"] : tensor<4x6xf32> -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```

    **Constraints**
    - C1: operand and result have one type.
    - the axes differ, and the module's mesh has them (all collectives).
  }];
  let arguments = (ins TP_Tensor:$input, StrArrayAttr:$axes,
                       DefaultValuedAttr<TP_ReductionAttr, "::colrow::tp::Reduction::Sum">:$reduction,
                       OptionalAttr<StrAttr>:$reason);
  let extraClassDeclaration = [{
    std::optional<::colrow::tp::Reduction> getReductionKind() { return getReduction(); }
  }];
}

def TP_AllGatherOp : TP_CollectiveOp<"all_gather"> {
  let summary = "join the blocks of dimension `dim`; padding is dropped";
  let description = [{
    Before: rank r holds block r along `dim`. After: every rank holds the whole,
    in rank order, without the padding of the last blocks.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:3]   x[0:4, 3:6]
        after    x[0:4, 0:6]   x[0:4, 0:6]

    ```mlir
    func.func @all_gather(%x: tensor<4x3xf32>) -> tensor<4x6xf32> {
      %y = tp.all_gather %x over ["tp"] {dim = 1 : i64} : tensor<4x3xf32> -> tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```

    **Constraints** (also of tp.reduce_scatter, the other way round)
    - C1: `dim` is a dimension.
    - C2: operand and result differ along it only.
    - C3: the blocks of all ranks make the whole.
  }];
  let arguments = (ins TP_Tensor:$input, StrArrayAttr:$axes, I64Attr:$dim,
                       OptionalAttr<StrAttr>:$reason);
  let extraClassDeclaration = [{
    std::optional<int64_t> getDimension() { return int64_t(getDim()); }
  }];
}

def TP_ReduceScatterOp : TP_CollectiveOp<"reduce_scatter"> {
  let summary = "sum over the ranks, each keeping its block of dimension `dim`";
  let description = [{
    Before: rank r holds a whole summand. After: rank r holds block r of the
    sum, zero where the block is padding.

    What two ranks hold:

                 rank 0                rank 1
        before   x0                    x1
        after    (x0 + x1)[0:4, 0:3]   (x0 + x1)[0:4, 3:6]

    ```mlir
    func.func @reduce_scatter(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
      %y = tp.reduce_scatter %x over ["tp"] {dim = 1 : i64} : tensor<4x6xf32> -> tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```
  }];
  let arguments = (ins TP_Tensor:$input, StrArrayAttr:$axes, I64Attr:$dim,
                       OptionalAttr<StrAttr>:$reason);
  let extraClassDeclaration = [{
    std::optional<int64_t> getDimension() { return int64_t(getDim()); }
    std::optional<::colrow::tp::Reduction> getReductionKind() {
      return ::colrow::tp::Reduction::Sum;
    }
  }];
}

def TP_LocalSliceOp : TP_Op<"local_slice",
    [Pure, CollectiveOpInterface, DeclareOpInterfaceMethods<RowLowerableOpInterface, ["getSpace"]>]> {
  let summary = "one's own block of dimension `dim`, zero where it is padding";
  let description = [{
    The local form of `tp.slice`. `layout` is that of the result in the whole
    tensor.

    What two ranks hold:

                 rank 0        rank 1
        before   x[0:4, 0:6]   x[0:4, 0:6]
        after    x[0:4, 0:3]   x[0:4, 3:6]

    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #s = #tp.layout<#mesh, [_, {6 over "tp"} ]>
    func.func @local_slice(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
      %y = tp.local_slice %x over ["tp"] {dim = 1 : i64, layout = #s} : tensor<4x6xf32> -> tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```

    **Constraints**
    - C1: `dim` is a dimension.
    - C2: the result is a block of the operand along it.
    - C3: `layout` fits the result, and splits `dim` over `axes` only.
  }];
  let arguments = (ins TP_Tensor:$input, StrArrayAttr:$axes, I64Attr:$dim,
                       TP_LayoutAttr:$layout, OptionalAttr<StrAttr>:$reason);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    std::optional<int64_t> getDimension() { return int64_t(getDim()); }
  }];
}

def TP_MaskPaddingOp : TP_Op<"mask_padding",
    [Pure, DeclareOpInterfaceMethods<RowLowerableOpInterface>]> {
  let summary = "set the padding of a block to a neutral value";
  let description = [{
    Made by `tp-partition` before an op that sums (fill 0) or takes a maximum
    (fill -inf) over a dimension whose padding is not known to be neutral, or
    that leaves out what labels tell it to. `layout` is that of the whole tensor.

    **Constraints**
    - C1: operand and result have one type, which `layout` fits.
    - C2: floats are filled with 0 or -inf, integers with an integer.
    - C3: a dimension of `layout` is padded.
  }];
  let arguments = (ins TP_Tensor:$input, TP_NeutralAttr:$fill,
                       TP_LayoutAttr:$layout);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$input `with` $fill attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // COLROW_TP_OPS_TD
