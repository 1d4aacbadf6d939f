export {
  type ChainTime,
  controlShape,
  DIRECT_PATH,
  type MeterRow,
  type ShapeControl,
  type ShapeControls,
} from './control-methods.ts'
export {
  EVM_SHAPES,
  type EvmShape,
  type EvmShapeName,
  type FeeSystem,
  type LogLimits,
  type TagLag,
} from './evm-shape.ts'
