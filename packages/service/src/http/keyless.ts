import { Readable } from 'node:stream'
import type { RateClass } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, preParsingHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'
import { type AddressLimit, createAddressLimit, rateOf } from './address-limit.ts'
import type { KeyTable, KnownKey } from './key-table.ts'
import { createSignatureCheck, readBody } from './request-signature.ts'

/** A call that waits to be admitted. */
export type Call = {
  request: FastifyRequest
  reply: FastifyReply
  done: HookHandlerDoneFunction
  rateClass: RateClass
}

export type KeylessOptions = Parameters<typeof createSignatureCheck>[0] & {
  /** Such calls are of this account. */
  account: string
  /** Of one wallet, and of each kind of one network address. */
  callsPerMinute: number
}

type Deps = {
  keys: Pick<KeyTable, 'ofAccount' | 'isFrozen'>
  addressLimit: AddressLimit
  refuseRoute(request: FastifyRequest): ServiceError | undefined
  refuseCaller(call: Call, refusal: ServiceError): ServiceError
  admit(call: Call, key: KnownKey): void
}

const FROZEN = 'The operator froze the keyless access of this wallet. Its swaps end as usual.'

const isRejected = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && ['INVALID_API_KEY', 'FORBIDDEN'].includes(error.code)

type Full = { limit: AddressLimit; address: string; retryAfterMs: number }

function findFull(limit: AddressLimit, address: string): Full | undefined {
  const retryAfterMs = limit.strike(address)
  return retryAfterMs === undefined ? undefined : { limit, address, retryAfterMs }
}

function refuseRate({ reply }: Call, { limit, address, retryAfterMs }: Full): ServiceError {
  reply.header('ratelimit-policy', limit.policy)
  reply.header('ratelimit', limit.state(address))
  return new ServiceError('RATE_LIMITED', { recovery: { retryAfterMs } })
}

/**
 * Admits calls that a wallet signs instead of an API key: as a stranger with the key of the account for such calls, who
 * has the swaps of this wallet only. A signature is of the body too: it is checked once that was read.
 */
export function createKeyless({ account, callsPerMinute, ...signing }: KeylessOptions, deps: Deps) {
  const { keys, addressLimit } = deps
  const check = createSignatureCheck(signing)
  const wallets = createAddressLimit(performance, rateOf('wallet', callsPerMinute))
  // Wallets cost nothing: with many, one network address could take all calls and slots of the account.
  const addresses = new Map<RateClass, AddressLimit>()
  const addressesOf = (rateClass: RateClass): AddressLimit => {
    const known =
      addresses.get(rateClass) ?? createAddressLimit(performance, rateOf('address', callsPerMinute))
    addresses.set(rateClass, known)
    return known
  }

  /** Calls that wait for their body. */
  const waiting = new WeakMap<FastifyRequest, { key: KnownKey; rateClass: RateClass }>()

  const findFullLimit = (call: Call, wallet: string): Full | undefined =>
    findFull(wallets, wallet) ?? findFull(addressesOf(call.rateClass), call.request.ip)
  const admitWallet = (call: Call, key: KnownKey, wallet: string): void => {
    const { request } = call
    if (keys.isFrozen(wallet)) throw new ServiceError('FORBIDDEN', { message: FROZEN })
    const refusal = deps.refuseRoute(request)
    if (refusal) throw refusal
    const full = findFullLimit(call, wallet)
    if (full) {
      addressLimit.strike(request.ip)
      throw refuseRate(call, full)
    }
    deps.admit(call, { ...key, kind: 'publishable', rules: { ...key.rules, wallet } })
  }

  return {
    /** Whether the call is signed instead: it is then admitted once its body is there. */
    takes({ request, rateClass }: Call): boolean {
      const { 'x-api-key': apiKey, 'signature-input': input } = request.headers
      const key = !apiKey && input ? keys.ofAccount(account) : undefined
      if (key) waiting.set(request, { key, rateClass })
      return key !== undefined
    },
    preParsing: ((request, reply, payload, done) => {
      const signed = waiting.get(request)
      if (!signed) return done()
      let body: Buffer | undefined
      const end: Call['done'] = (error) => done(error, body && Readable.from([body]))
      const call = { request, reply, rateClass: signed.rateClass, done: end }
      const work = async (): Promise<void> => {
        // The check costs more than that of a key: not for addresses that guess.
        if (addressLimit.wait(request.ip) !== undefined) throw new ServiceError('INVALID_API_KEY')
        const { method, originalUrl: target, headers } = request
        if (method !== 'GET') body = await readBody(payload, request.routeOptions.bodyLimit)
        admitWallet(call, signed.key, await check({ method, target, headers, body }))
      }
      work().catch((error) => end(isRejected(error) ? deps.refuseCaller(call, error) : error))
    }) satisfies preParsingHookHandler,
  }
}
