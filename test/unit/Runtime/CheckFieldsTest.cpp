// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every field of the plan's schema, wrong in some way, is refused; a field that
// is added to the schema without a line here fails the test.

#include "TestPlan.h"
#include "flatbuffers/reflection_generated.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

namespace colrow::runtime::test {
namespace {

// Instructions of basePlan().
enum : size_t { fill, launch, gemm, copy, sum, record, loop, body, wait, last };

/// A plan in which every table occurs.
plan::PlanT basePlan() {
  TestPlan plan;
  plan.mesh = {{"dp", 2}, {"tp", 2}};
  plan.constants.assign(64, 1);
  ParameterSpec w{"w", 0, {6, 4}, {{{6, 8, {1}}}, {{4, 4}}}};
  w.sources = {{"file.w",
                {4, 12},
                {4, 6, 2},
                {0, 0, 1},
                {1, 1, 1},
                {4, 6, 1},
                {1, 0, 2}}};
  plan.add(w);
  ParameterSpec m{"w.m", 0, {6, 4}, {{{6, 8, {1}}}, {{4, 4}}}};
  m.stateOf = 0, m.stateName = "exp_avg";
  plan.add(m);
  InputSpec ids{"input_ids", "ids", {2, 6}, 0, 9, 0};
  ids.dims = {{{2, 2, {0}}}, {{6, 6}}};
  At in = plan.input(ids);
  At x = plan.buffer(Region::scratch, 64, plan::DType::f32);
  At y = plan.buffer(Region::scratch, 64, plan::DType::f32);
  At z = plan.buffer(Region::scratch, 64, plan::DType::f32);
  plan.fill(x, 64, 0);
  plan.launch("f",
              {plan.parameter(1), in, {Region::constant}, {Region::scalars}, y},
              {64, 24, 64, sizeof(ScalarBlock), 64}, {{1, {}}});
  plan.gemm(2, 3, 4, x, plan.parameter(0), y, 0, false, true);
  plan.phase = 1;
  plan.copy(y, z, 32);
  CollectiveSpec spec{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  spec.axes = {1};
  spec.count = 8;
  spec.src = spec.dst = z;
  plan.collective(spec);
  plan.record(3);
  plan.phase = 2;
  plan.loop(4, 1);
  plan.fill({Region::scratch, 0, {16}, {}, y.handle}, 16, 0);
  plan.stream = 1;
  plan.wait(3);
  At half = z;
  half.offset = 16;
  plan.copy(half, {Region::scratch, 0, {}, {}, x.handle}, 16);
  // Stream 0 has read x long before.
  plan.output({"loss", "loss", {}, {}, z});
  plan.output({"w", "gradient", {6, 4}, {{{6, 8, {1}}}, {{4, 4}}}, y, 0});
  plan::PlanT tables = plan.build();
  tables.persistent_fingerprint = 1;
  return tables;
}

plan::ProgramT &program(plan::PlanT &plan) { return *plan.programs[0]; }
plan::InstructionT &at(plan::PlanT &plan, size_t i) {
  return *program(plan).instructions[i];
}
plan::GemmT &gemmOf(plan::PlanT &plan) { return *at(plan, gemm).op.AsGemm(); }
plan::LaunchT &launchOf(plan::PlanT &plan) {
  return *at(plan, launch).op.AsLaunch();
}
plan::CollectiveT &sumOf(plan::PlanT &plan) {
  return *at(plan, sum).op.AsCollective();
}
plan::CopyT &copyOf(plan::PlanT &plan) { return *at(plan, copy).op.AsCopy(); }
plan::FillT &fillOf(plan::PlanT &plan) { return *at(plan, fill).op.AsFill(); }

struct Alteration {
  const char *field; // "Table.field"
  std::function<void(plan::PlanT &)> change;
  const char *fault; // null: the field means nothing to the checker
};
using P = plan::PlanT;
const std::function<void(P &)> nothing;

const std::vector<Alteration> alterations = {
      {"Plan.compiler_version", nothing, nullptr},
      {"Plan.target", nothing, nullptr}, // see checkHostCpu()
      {"Plan.target_cpu", nothing, nullptr},
      {"Plan.target_features", nothing, nullptr},
      {"Plan.mesh", [](P &p) { p.mesh.clear(); }, "mesh has 0 axes"},
      {"Plan.model_type", nothing, nullptr},
      {"Plan.config_json", nothing, nullptr},
      {"Plan.persistent_bytes", [](P &p) { p.persistent_bytes -= 64; },
       "of region persistent, which has 64"},
      {"Plan.constants", [](P &p) { p.constants.pop_back(); },
       "of region constant, which has 63"},
      {"Plan.buffers", [](P &p) { p.buffers.clear(); }, "is buffer 0 of 0"},
      {"Plan.parameters", [](P &p) { p.parameters.clear(); },
       "belongs to parameter 0, which is none"},
      {"Plan.kernels", [](P &p) { p.kernels.clear(); },
       "launches kernel 0 of 0"},
      {"Plan.object", nothing, nullptr}, // see Executor::create()
      {"Plan.programs",
       [](P &p) {
         p.programs.push_back(std::make_unique<plan::ProgramT>(program(p)));
       },
       "has another program of this name"},
      {"Plan.optimizer", [](P &p) { p.optimizer->beta1 = 1; },
       "optimizer decays by 1"},
      {"Plan.persistent_fingerprint", nothing, nullptr},

      {"MeshAxis.name", [](P &p) { p.mesh[1]->name = "dp"; },
       "is named twice"},
      {"Plan.mesh",
       [](P &p) {
         for (int axis = 2; axis <= 8; ++axis) {
           p.mesh.push_back(std::make_unique<plan::MeshAxisT>(*p.mesh[0]));
           p.mesh.back()->name = std::to_string(axis), p.mesh.back()->size = 1;
         }
       },
       "mesh has 9 axes, not 1 to 8"},
      {"MeshAxis.size", [](P &p) { p.mesh[1]->size = 40000; },
       "more than 65536 ranks"},
      {"MeshAxis.batch", nothing, nullptr},

      {"Optimizer.beta1", [](P &p) { p.optimizer->beta1 = -0.5; },
       "optimizer decays by -0.5"},
      {"Optimizer.beta2", [](P &p) { p.optimizer->beta2 = NAN; }, "optimizer decays by"},
      {"Optimizer.eps", [](P &p) { p.optimizer->eps = -1; },
       "optimizer has eps -1"},
      {"Optimizer.weight_decay",
       [](P &p) { p.optimizer->weight_decay = INFINITY; }, "optimizer has eps"},
      {"Optimizer.clip_grad_norm",
       [](P &p) { p.optimizer->clip_grad_norm = NAN; }, "optimizer has eps"},

      {"Buffer.name", nothing, nullptr},
      {"Buffer.region", [](P &p) { p.buffers[0]->region = Region::scratch; },
       "a region that is none, or not its list's"},
      {"Buffer.dtype", [](P &p) { p.buffers[0]->dtype = plan::DType::f16; },
       "a type that no buffer has"},
      {"Buffer.dtype",
       [](P &p) { program(p).buffers[1]->dtype = plan::DType::i32; },
       "operand a is taken as f32, but buffer 5 holds i32"},
      {"Buffer.offset", [](P &p) { p.buffers[1]->offset = 0; },
       "buffer 0 and buffer 1 overlap"},
      {"Buffer.offset", [](P &p) { p.buffers[0]->offset = 4; },
       "begins at byte 4"},
      {"Buffer.bytes", [](P &p) { p.buffers[0]->bytes = 0; }, "has 0 bytes"},

      {"Parameter.name", [](P &p) { p.parameters[1]->name = "w"; },
       "is named twice"},
      {"Parameter.name", [](P &p) { p.parameters[1]->name = "__metadata__"; },
       "parameter '__metadata__' cannot be the name of a tensor"},
      {"Parameter.name", [](P &p) { p.parameters[1]->name = "a\xff"; },
       "cannot be the name of a tensor"},
      {"Parameter.id", nothing, nullptr},
      {"Parameter.dtype",
       [](P &p) { p.parameters[0]->dtype = plan::DType::i32; },
       "of a type other than f32 and bf16"},
      {"Parameter.shape", [](P &p) { p.parameters[0]->shape = {6, 5}; },
       "do not make its size 5"},
      {"Parameter.dims", [](P &p) { p.parameters[0]->dims.pop_back(); },
       "layout has 1 dimensions"},
      {"Parameter.buffer", [](P &p) { p.parameters[1]->buffer = 0; },
       "buffer 0 is another's too"},
      {"Parameter.buffer", [](P &p) { p.parameters[1]->buffer = 2; },
       "in region constant"},
      {"Parameter.sources",
       [](P &p) {
         p.parameters[0]->sources.push_back(
             std::make_unique<plan::SourceT>(*p.parameters[0]->sources[0]));
       },
       "sources give 48 elements"},
      {"Parameter.init",
       [](P &p) { p.parameters[0]->init->kind = plan::InitKind(9); },
       "an unknown kind of initial values"},
      {"Parameter.state_of", [](P &p) { p.parameters[1]->state_of = 1; },
       "which is state itself"},
      {"Parameter.state_of", [](P &p) { p.parameters[1]->state_of = 2; },
       "is state of parameter 2 of 2"},
      {"Parameter.state_name", [](P &p) { p.parameters[1]->state_name = ""; },
       "state without a usable name"},

      {"Parameter.state_name", [](P &p) { p.parameters[1]->state_name = "a/b"; },
       "state without a usable name"},
      {"Parameter.master", [](P &p) { p.parameters[0]->master = true; },
       "parameter w: is a master, but state of nothing"},
      {"Parameter.master", [](P &p) { p.parameters[1]->master = true; },
       "is master of w, f32 of f32; wanted f32 of bf16"},
      // A state of as many bytes, in another shape.
      {"Parameter.shape",
       [](P &p) {
         p.parameters[1]->shape[0] = 8;
         p.parameters[1]->dims[0]->factors[0]->size = 8;
       },
       "is state of w but has another shape"},
      {"Parameter.sources",
       [](P &p) {
         p.parameters[1]->sources.push_back(
             std::make_unique<plan::SourceT>(*p.parameters[0]->sources[0]));
       },
       "is state, so it cannot have sources"},
      {"Init.kind", [](P &p) { p.parameters[0]->init->kind = plan::InitKind(4); },
       "an unknown kind of initial values"},
      {"Init.mean", [](P &p) { p.parameters[0]->init->mean = NAN; },
       "initial values of mean"},
      {"Init.std", [](P &p) { p.parameters[0]->init->std = -1; },
       "initial values of mean"},

      {"Dim.factors", [](P &p) { p.parameters[0]->dims[0]->factors.clear(); },
       "dimension 0 has no factors"},
      {"Factor.size",
       [](P &p) { p.parameters[0]->dims[0]->factors[0]->size = 5; },
       "do not make its size 6"},
      {"Factor.padded",
       [](P &p) { p.parameters[0]->dims[0]->factors[0]->padded = 7; },
       "pads a factor of 6 to 7 for 2 ranks"},
      {"Factor.axes",
       [](P &p) { p.parameters[0]->dims[0]->factors[0]->axes = {2}; },
       "mesh axis 2 of a smaller mesh"},

      {"Source.name", [](P &p) { p.parameters[0]->sources[0]->name = ""; },
       "a source has no name"},
      {"Source.name",
       [](P &p) { p.parameters[0]->sources[0]->name = "__metadata__"; },
       "'__metadata__' cannot be the name of a tensor"},
      {"Source.file_shape",
       [](P &p) { p.parameters[0]->sources[0]->file_shape = {4, 11}; },
       "reshapes [4, 11] to [4, 6, 2]"},
      {"Source.reshape",
       [](P &p) { p.parameters[0]->sources[0]->reshape = {4, 7, 2}; },
       "reshapes [4, 12] to [4, 7, 2]"},
      {"Source.start",
       [](P &p) { p.parameters[0]->sources[0]->start = {0, 1, 1}; },
       "takes elements outside dimension 1"},
      {"Source.step", [](P &p) { p.parameters[0]->sources[0]->step = {2, 1, 1}; },
       "takes elements outside dimension 0"},
      {"Source.size", [](P &p) { p.parameters[0]->sources[0]->size = {4, 5, 1}; },
       "sources give 20 elements"},
      {"Source.perm", [](P &p) { p.parameters[0]->sources[0]->perm = {1, 1, 2}; },
       "not permuted by a permutation"},

      {"Kernel.symbol", [](P &p) { p.kernels[0]->symbol = ""; },
       "kernel 0 has no symbol"},
      {"Kernel.args", [](P &p) { p.kernels[0]->args.pop_back(); },
       "it takes 4 and 1"},
      {"Kernel.ints", [](P &p) { p.kernels[0]->ints = 2; }, "it takes 5 and 2"},
      {"Kernel.symbol",
       [](P &p) {
         p.kernels.push_back(std::make_unique<plan::KernelT>(*p.kernels[0]));
       },
       "kernel 1 has no symbol of its own: 'f'"},
      {"KernelArg.dtype",
       [](P &p) { p.kernels[0]->args[1]->dtype = plan::DType::i64; },
       "operand 1 is taken as i64"},
      {"KernelArg.access",
       [](P &p) { p.kernels[0]->args[1]->access = plan::Access::write; },
       "operand 1 is written, but region input is read only"},
      {"KernelArg.access",
       [](P &p) { p.kernels[0]->args[4]->access = plan::Access::accumulate; },
       "before it is written"},
      {"KernelArg.extent", [](P &p) { p.kernels[0]->args[1]->extent = 25; },
       "of operand 1, of which it touches 25"},

      {"Program.name", [](P &p) { program(p).name = ""; }, "has no name"},
      {"Program.ranks", [](P &p) { program(p).ranks = {0, 1, 2}; },
       "rank 3 has no program of this name"},
      {"Program.phases", [](P &p) { program(p).phases.pop_back(); },
       "is of phase 2 of 2"},
      {"Program.buffers", [](P &p) { program(p).buffers.pop_back(); },
       "is buffer 7 of 7"},
      {"Program.scratch_bytes", [](P &p) { program(p).scratch_bytes -= 64; },
       "of region scratch, which has 128"},
      {"Program.input_bytes", [](P &p) { program(p).input_bytes = 8; },
       "of region input, which has 8"},
      {"Program.inputs", [](P &p) { program(p).inputs.clear(); },
       "is no input's"},
      {"Program.outputs",
       [](P &p) {
         program(p).outputs.push_back(
             std::make_unique<plan::OutputT>(*program(p).outputs[0]));
       },
       "no name of its own: 'loss'"},
      {"Program.instructions",
       [](P &p) {
         program(p).instructions.erase(program(p).instructions.begin());
       },
       "before it is written"},
      {"Program.memory", nothing, nullptr},
      {"Memory.parameters", [](P &p) { program(p).memory->parameters = UINT64_MAX; },
       "memory of 18446744073709551615 bytes"},
      {"Memory.gradients", [](P &p) { program(p).memory->gradients = UINT64_MAX; },
       "memory of 18446744073709551615 bytes"},
      {"Memory.optimizer", [](P &p) { program(p).memory->optimizer = UINT64_MAX; },
       "memory of 18446744073709551615 bytes"},
      {"Memory.activations", [](P &p) { program(p).memory->activations = UINT64_MAX; },
       "memory of 18446744073709551615 bytes"},
      {"Memory.arena", [](P &p) { program(p).memory->arena = UINT64_MAX; },
       "memory of 18446744073709551615 bytes"},

      {"Input.name", [](P &p) { program(p).inputs[0]->name = "__metadata__"; },
       "cannot be the name of a tensor"},
      {"Input.name", [](P &p) { program(p).inputs[0]->name = ""; },
       "no name of its own"},
      {"Input.name",
       [](P &p) {
         program(p).inputs.push_back(
             std::make_unique<plan::InputT>(*program(p).inputs[0]));
       },
       "input 1 has no name of its own: 'input_ids'"},
      {"Input.role",
       [](P &p) {
         auto &list = program(p).inputs;
         list.push_back(std::make_unique<plan::InputT>(*list[0]));
         list[1]->name = "other";
       },
       "two inputs have the role ids"},
      {"Input.dtype",
       [](P &p) { program(p).inputs[0]->dtype = plan::DType::i64; },
       "takes 48 bytes of i64"},
      {"Input.shape", [](P &p) { program(p).inputs[0]->shape = {2, 5}; },
       "do not make its size 5"},
      {"Input.dims", [](P &p) { program(p).inputs[0]->dims.clear(); },
       "takes 48 bytes of i32"},
      {"Input.batch_dim", [](P &p) { program(p).inputs[0]->batch_dim = 2; },
       "batch dimension 2 of shape [2, 6]"},
      {"Input.batch_dim", [](P &p) { program(p).inputs[0]->batch_dim = -2; },
       "has batch dimension -2"},
      {"Input.low", [](P &p) { program(p).inputs[0]->low = 10; },
       "holds i32 from 10 to below 9"},
      {"Input.high",
       [](P &p) { program(p).inputs[0]->high = int64_t(1) << 32; },
       "holds i32 from 0"},
      {"Input.padding",
       [](P &p) { program(p).inputs[0]->padding = int64_t(1) << 31; },
       "is padded with 2147483648, which is no i32"},
      {"Input.buffer", [](P &p) { program(p).inputs[0]->buffer = 99; },
       "is buffer 99 of"},
      {"Input.buffer", [](P &p) { program(p).inputs[0]->buffer = 0; },
       "buffer 0 has 64 of f32 in region persistent"},

      {"Output.name", [](P &p) { program(p).outputs[0]->name = "__metadata__"; },
       "cannot be the name of a tensor"},
      {"Output.name", [](P &p) { program(p).outputs[0]->name = ""; },
       "no name of its own"},
      {"Output.role", [](P &p) { program(p).outputs[1]->role = "loss"; },
       "two outputs have the role loss"},
      {"Output.role", [](P &p) { program(p).outputs[1]->role = "grad_norm"; },
       "is the grad_norm, but of type f32 and shape [6, 4]"},
      {"Output.parameter", [](P &p) { program(p).outputs[1]->parameter = 2; },
       "belongs to parameter 2, which is none"},
      {"Output.parameter", [](P &p) { program(p).outputs[0]->parameter = 0; },
       "has another shape than its parameter"},
      {"Output.dtype",
       [](P &p) { program(p).outputs[1]->dtype = plan::DType::bf16; },
       "operand src is taken as bf16"},
      {"Output.shape", [](P &p) { program(p).outputs[1]->shape = {6, 3}; },
       "do not make its size 3"},
      {"Output.dims", [](P &p) { program(p).outputs[1]->dims.clear(); },
       "operand src reaches to byte 96"},
      {"Output.parameter", [](P &p) { program(p).outputs[1]->parameter = -2; },
       "belongs to parameter -2, which is none"},
      {"Output.src",
       [](P &p) { program(p).outputs[0]->src->strides = {4}; },
       "operand src has 1 strides in 0 loops"},
      {"Output.src", [](P &p) { program(p).outputs[0]->src.reset(); },
       "operand src is missing"},

      {"Instruction.op", [](P &p) { at(p, copy).op.Reset(); },
       "has no operation"},
      {"Instruction.op_type", [](P &p) { at(p, copy).op.Reset(); },
       "has no operation"},
      {"Instruction.stream", [](P &p) { at(p, loop).stream = 1; },
       "is a loop on a stream other than 0"},
      {"Instruction.stream", [](P &p) { at(p, copy).stream = 1; },
       "without waiting for instruction 2 (gemm) on stream 0"},
      {"Instruction.phase", [](P &p) { at(p, gemm).phase = 2; },
       "is of phase 1 of 3, behind one of phase 2"},
      {"Instruction.name", nothing, nullptr},
      {"Instruction.reason", nothing, nullptr},

      {"Operand.buffer", [](P &p) { gemmOf(p).b->buffer = 8; },
       "operand b is buffer 8 of 8"},
      {"Operand.offset", [](P &p) { gemmOf(p).b->offset = 20; },
       "operand b reaches to byte 68 of buffer 0"},
      {"Operand.offset", [](P &p) { gemmOf(p).b->offset = 2; },
       "operand b is not aligned"},
      {"Operand.strides",
       [](P &p) { at(p, body).op.AsFill()->dst->strides = {20}; },
       "operand dst reaches to byte 76"},
      {"Operand.coords", [](P &p) { gemmOf(p).b->coords = {0, 20}; },
       "operand b reaches to byte 68"},
      {"Operand.coords", [](P &p) { gemmOf(p).b->coords = {0, 0, 4}; },
       "3 factors of coordinates on a mesh of 2 axes"},
      {"Operand.strides",
       [](P &p) { at(p, body).op.AsFill()->dst->strides = {14}; },
       "operand dst is not aligned to 4 bytes"},
      {"Operand.coords", [](P &p) { gemmOf(p).b->coords = {0, 2}; },
       "operand b is not aligned to 4 bytes"},
      {"IntOperand.base",
       [](P &p) {
         launchOf(p).ints[0]->base = INT64_MAX;
         launchOf(p).ints[0]->coords = {1};
       },
       "an integer beyond 64 bits"},
      {"IntOperand.strides", [](P &p) { launchOf(p).ints[0]->strides = {4}; },
       "more strides than loops"},
      {"IntOperand.coords",
       [](P &p) { launchOf(p).ints[0]->coords = {1, 1, 1}; },
       "more coordinates than the mesh"},

      {"Gemm.m", [](P &p) { gemmOf(p).m = 0; }, "gemm has a size of 0"},
      {"Gemm.m", [](P &p) { gemmOf(p).m = 5; }, "operand a reaches to byte 80"},
      {"Gemm.n", [](P &p) { gemmOf(p).n = 4; }, "gemm has rows of 4, 4 and 4"},
      {"Gemm.k", [](P &p) { gemmOf(p).k = 5; }, "gemm has rows of 5, 5 and 3"},
      {"Gemm.trans_a", [](P &p) { gemmOf(p).trans_a = true, gemmOf(p).m = 5; },
       "gemm has rows of 5, 4 and 3"},
      {"Gemm.trans_b", [](P &p) { gemmOf(p).trans_b = false, gemmOf(p).k = 9; },
       "gemm has rows of 9, 3 and 3"},
      {"Gemm.lda", [](P &p) { gemmOf(p).lda = 3; },
       "longer than leading dimensions of 3, 4 and 3"},
      {"Gemm.ldb", [](P &p) { gemmOf(p).ldb = 3; },
       "longer than leading dimensions of 4, 3 and 3"},
      {"Gemm.ldc", [](P &p) { gemmOf(p).ldc = 2; },
       "longer than leading dimensions of 4, 4 and 2"},
      {"Gemm.lda",
       [](P &p) { gemmOf(p).m = 1, gemmOf(p).lda = int64_t(1) << 31; },
       "gemm has a size of 2147483648"},
      {"Gemm.alpha", [](P &p) { gemmOf(p).alpha = NAN; },
       "gemm has a factor of"},
      {"Gemm.beta", [](P &p) { gemmOf(p).beta = INFINITY; },
       "gemm has a factor of"},
      {"Gemm.a_type", [](P &p) { gemmOf(p).a_type = plan::DType::bf16; },
       "operand a is taken as bf16"},
      {"Gemm.b_type", [](P &p) { gemmOf(p).b_type = plan::DType::i32; },
       "gemm of a type other than f32 and bf16"},
      {"Gemm.c_type", [](P &p) { gemmOf(p).c_type = plan::DType::bf16; },
       "operand c is taken as bf16"},
      {"Gemm.a", [](P &p) { gemmOf(p).a.reset(); }, "operand a is missing"},
      {"Gemm.b", [](P &p) { gemmOf(p).b.reset(); }, "operand b is missing"},
      {"Gemm.c", [](P &p) { gemmOf(p).c.reset(); }, "operand c is missing"},

      {"Launch.kernel", [](P &p) { launchOf(p).kernel = 1; },
       "launches kernel 1 of 1"},
      {"Launch.args", [](P &p) { launchOf(p).args.pop_back(); },
       "4 operands, 5 sizes"},
      {"Launch.bytes", [](P &p) { launchOf(p).bytes[0] = 68; },
       "operand 0 reaches to byte 68"},
      {"Launch.bytes",
       [](P &p) { launchOf(p).bytes[0] = p.kernels[0]->args[0]->extent = 0; },
       "0 bytes of operand 0, of which it touches 0"},
      {"Launch.ints", [](P &p) { launchOf(p).ints.clear(); }, "0 integers"},

      {"Copy.src", [](P &p) { copyOf(p).src.reset(); },
       "operand src is missing"},
      {"Copy.dst", [](P &p) { copyOf(p).dst->buffer = copyOf(p).src->buffer; },
       "src and dst overlap"},
      {"Copy.bytes", [](P &p) { copyOf(p).bytes = 30; },
       "copies 30 bytes of f32"},
      {"Copy.bytes", [](P &p) { copyOf(p).bytes = 0; }, "copies 0 bytes"},
      {"Fill.dst", [](P &p) { fillOf(p).dst->buffer = 4; },
       "region input is read only"},
      {"Fill.bytes", [](P &p) { fillOf(p).bytes = 2; }, "fills 2 bytes of f32"},
      {"Fill.bytes", [](P &p) { fillOf(p).bytes = 0; }, "fills 0 bytes"},
      {"Fill.value", nothing, nullptr},

      {"Collective.kind",
       [](P &p) { sumOf(p).kind = plan::CollectiveKind::all_to_all; },
       "all_to_all with reduction sum"},
      {"Collective.reduction",
       [](P &p) { sumOf(p).reduction = plan::Reduction::none; },
       "all_reduce with reduction none"},
      {"Collective.reduction",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::reduce_scatter;
         sumOf(p).reduction = plan::Reduction::max;
       },
       "reduce_scatter with reduction max"},
      {"Collective.dtype", [](P &p) { sumOf(p).dtype = plan::DType::i1; },
       "collective of a type other than"},
      {"Collective.kind",
       [](P &p) { sumOf(p).kind = plan::CollectiveKind(9); },
       "collective of an unknown kind or reduction"},
      {"Collective.reduction",
       [](P &p) { sumOf(p).reduction = plan::Reduction(9); },
       "collective of an unknown kind or reduction"},
      {"Collective.axes", [](P &p) { sumOf(p).axes = {}; },
       "names no mesh axis"},
      {"Collective.count", [](P &p) { sumOf(p).count = 17; },
       "operand src reaches to byte 68"},
      {"Collective.outer",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::all_gather;
         sumOf(p).reduction = plan::Reduction::none;
         sumOf(p).block = sumOf(p).total = 1;
       },
       "a size that is not positive"},
      {"Collective.block",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::all_gather;
         sumOf(p).reduction = plan::Reduction::none;
         sumOf(p).outer = sumOf(p).block = 1, sumOf(p).total = 3;
       },
       "gathers 3 columns from 2 ranks of 1"},
      // Nothing of each rank, gathered and scattered.
      {"Collective.block",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::all_gather;
         sumOf(p).reduction = plan::Reduction::none;
         sumOf(p).outer = sumOf(p).total = 1, sumOf(p).block = 0;
       },
       "a size that is not positive"},
      {"Collective.block",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::reduce_scatter;
         sumOf(p).outer = sumOf(p).total = 1, sumOf(p).block = 0;
       },
       "a size that is not positive"},
      {"Collective.total",
       [](P &p) {
         sumOf(p).kind = plan::CollectiveKind::reduce_scatter;
         sumOf(p).outer = 1, sumOf(p).block = 9, sumOf(p).total = 17;
       },
       "operand src reaches to byte 68"},
      {"Collective.src", [](P &p) { sumOf(p).src.reset(); },
       "operand src is missing"},
      {"Collective.dst", [](P &p) { sumOf(p).dst->offset = 4; },
       "src and dst overlap"},
      {"Collective.payload_bytes",
       [](P &p) { sumOf(p).payload_bytes = UINT64_MAX; },
       "an impossible payload"},

      {"Loop.trips", [](P &p) { at(p, loop).op.AsLoop()->trips = 5; },
       "operand dst reaches to byte 80"},
      {"Loop.body", [](P &p) { at(p, loop).op.AsLoop()->body = 4; },
       "loop over 4 instructions where 3 follow"},
      {"Loop.body", [](P &p) { at(p, loop).op.AsLoop()->body = 0; },
       "loop over 0 instructions"},
      {"Record.event", [](P &p) { at(p, record).op.AsRecord()->event = 4; },
       "waits for event 3, which no instruction before it records"},
      {"Wait.event", [](P &p) { at(p, wait).op.AsWait()->event = 4; },
       "waits for event 4, which no instruction before it records"},
};

TEST(CheckFields, TheBaseIsRight) { EXPECT_EQ(faultOf(basePlan()), ""); }

TEST(CheckFields, EveryWrongFieldIsRefused) {
  for (const Alteration &alteration : alterations) {
    if (!alteration.fault)
      continue;
    plan::PlanT plan = basePlan();
    alteration.change(plan);
    std::string text = faultOf(plan);
    EXPECT_NE(text.find(alteration.fault), std::string::npos)
        << alteration.field << ": wanted: " << alteration.fault
        << "\n  found: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(CheckFields, NoFieldOfTheSchemaIsForgotten) {
  std::string reflected = readFile(PLAN_REFLECTION);
  std::set<std::string> known, wanted;
  for (const Alteration &alteration : alterations)
    known.insert(alteration.field);
  for (const reflection::Object *table :
       *reflection::GetSchema(reflected.data())->objects())
    for (const reflection::Field *field : *table->fields())
      wanted.insert(table->name()->str().substr(strlen("colrow.plan.")) + "." +
                    field->name()->str());
  EXPECT_EQ(known, wanted);
}

} // namespace
} // namespace colrow::runtime::test
