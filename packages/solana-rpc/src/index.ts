export { chancesOf } from './faults.ts'
export { isObject, parseJson } from './json.ts'
export { answerText, type Method, type Methods } from './json-rpc.ts'
export { advanceTime, type Ledger } from './ledger.ts'
export { historyMethods } from './methods/history.ts'
export { type Config, findInteger, readBank } from './params.ts'
export { invalidParams } from './rpc-error.ts'
export type { AnswerHttp, HttpAnswer } from './server.ts'
export { currentBlock, type Slots, slotAt } from './slots.ts'
export {
  type SolanaChain,
  type SolanaChainOptions,
  type SolanaNode,
  startSolanaChain,
} from './start-solana-chain.ts'
