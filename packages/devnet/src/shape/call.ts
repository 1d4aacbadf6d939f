/** One call of a client, on its way through the rules. */
export type Call = {
  method: string
  params: unknown[]
  /** How many blocks the answering backend is behind the head. */
  lag: number
}

export type Next = (call: Call) => Promise<unknown>
/** Answers a call, refuses it, or passes it on and may change the answer. */
export type Rule = (call: Call, next: Next) => Promise<unknown>

/** Calls the node itself, without rules. */
export type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>

/** An error that is passed to the client unchanged. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The code that go-ethereum uses for an error without its own code. */
export const SERVER_ERROR = -32_000

export function refuse(message: string): never {
  throw new RpcError(SERVER_ERROR, message)
}

export function toHex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** True for controls of hardhat and of the shape: they are for tests and have no limits. */
export function isEquipment(method: string): boolean {
  return method.startsWith('shape_') || method.startsWith('evm_') || method.startsWith('hardhat_')
}
