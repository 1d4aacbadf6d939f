import { BaseError, createTransport, type EIP1193RequestFn, RpcRequestError, type Transport } from 'viem'

// A contract reverted: every node would answer so.
const REVERTED = 3

/** Asks one node, and the next if it fails. If all fail, an answer says more than a broken connection. */
export function createFallback(transports: readonly Transport[]): Transport {
  return (parameters) => {
    const nodes = transports.map((transport) => transport(parameters))

    async function ask(body: unknown): Promise<unknown> {
      const errors: unknown[] = []
      for (const { request } of nodes) {
        try {
          return await request(body as never)
        } catch (error) {
          if (hasReverted(error)) throw error
          errors.push(error)
        }
      }
      throw errors.find((error) => findAnswer(error)) ?? errors.at(-1)
    }

    return createTransport({
      key: 'fallback',
      name: 'One node after the other',
      type: 'fallback',
      retryCount: 0,
      request: ask as EIP1193RequestFn,
    })
  }
}

function hasReverted(error: unknown): boolean {
  const answer = findAnswer(error)
  return answer !== undefined && (answer.code === REVERTED || typeof answer.data === 'string')
}

function findAnswer(error: unknown): RpcRequestError | undefined {
  const found =
    error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : undefined
  return found instanceof RpcRequestError ? found : undefined
}
