/** One call of a client, on its way through the rules. */
export type Call = {
  method: string
  params: unknown[]
  /** The backend that answers it: behind the head by so many blocks. */
  lag: number
}

export type Next = (call: Call) => Promise<unknown>
/** Answers a call, refuses it, or hands it on and perhaps changes the answer. */
export type Rule = (call: Call, next: Next) => Promise<unknown>

/** The node itself, without a rule. */
export type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>

/** An error that the client is to see as it is. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The code that go-ethereum gives to an error without a code of its own. */
export const SERVER_ERROR = -32_000

export function refuse(message: string): never {
  throw new RpcError(SERVER_ERROR, message)
}

export function toHex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** Hardhat's own controls and those of the shape: test equipment, free of limits. */
export function isEquipment(method: string): boolean {
  return method.startsWith('shape_') || method.startsWith('evm_') || method.startsWith('hardhat_')
}
