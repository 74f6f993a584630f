// RUN: tp-opt %s --tp-optimize=clip-grad-norm=1 | FileCheck %s
// RUN: tp-opt %s --tp-optimize=clip-grad-norm=1 --tp-partition --tp-verify-phase=phase=local | FileCheck %s --check-prefix=LOCAL
//
// Parameters on a mesh of two axes: whole, split over one or the other, and over
// both, in two dimensions or in one. Squares are summed over exactly the axes
// that split them, once for all gradients split alike, and so is the scale
// copied.
//
// CHECK: %[[W:.*]] = tp.sum_squares %{{.*}} : (tensor<4x6xf32, #r2>) -> tensor<3xf32, #r1>
// CHECK: %[[I:.*]] = tp.sum_squares {{.*}} -> tensor<3xf32, #p1_b>
// CHECK: %[[O:.*]] = tp.sum_squares {{.*}} -> tensor<3xf32, #p1_a>
// CHECK: %[[B:.*]] = tp.sum_squares {{.*}} -> tensor<3xf32, #p1_a_b>
// CHECK: %[[A:.*]] = tp.sum_squares {{.*}} -> tensor<3xf32, #p1_a_b>
// CHECK: %[[BA:.*]] = tp.add %[[B]], %[[A]]
// CHECK: %[[J:.*]] = tp.sum_squares {{.*}} -> tensor<3xf32, #p1_a_b>
// CHECK: %[[BAJ:.*]] = tp.add %[[BA]], %[[J]]
// CHECK: %[[IG:.*]] = tp.g %[[I]] over ["b"]
// CHECK: %[[WI:.*]] = tp.add %[[W]], %[[IG]]
// CHECK: %[[OG:.*]] = tp.g %[[O]] over ["a"]
// CHECK: %[[WIO:.*]] = tp.add %[[WI]], %[[OG]]
// CHECK: %[[BG:.*]] = tp.g %[[BAJ]] over ["a", "b"]
// CHECK: %[[ALL:.*]] = tp.add %[[WIO]], %[[BG]]
// CHECK: %[[NORM:.*]], %[[SCALE:.*]] = tp.clip %[[ALL]]
// CHECK: tp.adamw %{{.*}}, %[[SCALE]] {{.*}}decay = 1.000000e-02
// CHECK: %[[SI:.*]] = tp.f %[[SCALE]] over ["b"]
// CHECK: tp.adamw {{.*}}, %[[SI]] {
// CHECK: %[[SO:.*]] = tp.f %[[SCALE]] over ["a"]
// CHECK: tp.adamw {{.*}}, %[[SO]] {
// CHECK: %[[SB:.*]] = tp.f %[[SCALE]] over ["a", "b"]
// CHECK: tp.adamw {{.*}}, %[[SB]] {
// CHECK-NOT: tp.f
// CHECK: tp.adamw {{.*}}, %[[SB]] {
// CHECK-NOT: tp.f
// CHECK: tp.adamw {{.*}}, %[[SB]] {
//
// LOCAL-DAG: tp.parameter @inner : tensor<4x2xf32>
// LOCAL-DAG: tp.parameter @outer : tensor<2x6xf32>
// LOCAL-DAG: tp.parameter @both : tensor<2x2xf32>
// LOCAL-DAG: tp.parameter @joint : tensor<2x5xf32>
// LOCAL-DAG: tp.state @joint.exp_avg of @joint "exp_avg" : tensor<2x5xf32>
// LOCAL: tp.all_reduce %{{.*}} over ["b"] {{.*}} : tensor<3xf32>
// LOCAL: tp.all_reduce %{{.*}} over ["a"] {{.*}} : tensor<3xf32>
// LOCAL: tp.all_reduce %{{.*}} over ["a", "b"] {{.*}} : tensor<3xf32>
// LOCAL-NOT: tp.all_reduce
#mesh = #tp.mesh<"a"=2, "b"=3>
#r0 = #tp.layout<#mesh, []>
#r2 = #tp.layout<#mesh, [_, _]>
#inner = #tp.layout<#mesh, [_, {6 over "b"}]>
#outer = #tp.layout<#mesh, [{4 over "a"}, _]>
#both = #tp.layout<#mesh, [{4 over "a"}, {6 over "b"}]>
#joint = #tp.layout<#mesh, [{12 over ("a", "b")}, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @whole : tensor<4x6xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @inner : tensor<4x6xf32, #inner> {id = 1 : i64, init = #tp.init<zeros>}
  tp.parameter @outer : tensor<4x6xf32, #outer> {id = 2 : i64, init = #tp.init<zeros>}
  tp.parameter @both : tensor<4x6xf32, #both> {id = 3 : i64, init = #tp.init<zeros>}
  tp.parameter @again : tensor<4x6xf32, #both> {id = 4 : i64, init = #tp.init<zeros>}
  tp.parameter @joint : tensor<12x5xf32, #joint> {id = 5 : i64, init = #tp.init<zeros>}
  func.func @step() {
    %loss = tp.constant {value = 0.0 : f64} : () -> tensor<f32, #r0>
    tp.output "loss", %loss : tensor<f32, #r0>
    %whole = tp.param @whole : tensor<4x6xf32, #r2>
    %inner = tp.param @inner : tensor<4x6xf32, #inner>
    %outer = tp.param @outer : tensor<4x6xf32, #outer>
    %both = tp.param @both : tensor<4x6xf32, #both>
    %again = tp.param @again : tensor<4x6xf32, #both>
    %joint = tp.param @joint : tensor<12x5xf32, #joint>
    tp.output "gradient" gradient @whole, %whole : tensor<4x6xf32, #r2>
    tp.output "gradient" gradient @inner, %inner : tensor<4x6xf32, #inner>
    tp.output "gradient" gradient @outer, %outer : tensor<4x6xf32, #outer>
    tp.output "gradient" gradient @both, %both : tensor<4x6xf32, #both>
    tp.output "gradient" gradient @again, %again : tensor<4x6xf32, #both>
    tp.output "gradient" gradient @joint, %joint : tensor<12x5xf32, #joint>
    return
  }
}
