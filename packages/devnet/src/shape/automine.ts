import type { Rule } from './call.ts'

const SENDING = new Set(['eth_sendRawTransaction', 'eth_sendTransaction'])

/**
 * Makes a block after each transaction if `evm_setAutomine` is on, as deployments need. The node could do so
 * itself, but its blocks would then bypass the clock's queue and the L1 part of their fees.
 */
export function automine(): Rule {
  let isOn = false
  return async (call, next) => {
    if (call.method === 'evm_setAutomine') {
      isOn = call.params[0] === true
      return true
    }
    const answer = await next(call)
    if (isOn && SENDING.has(call.method)) await next({ method: 'evm_mine', params: [], lag: 0 })
    return answer
  }
}
