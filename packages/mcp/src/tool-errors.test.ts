import { stub } from '@geoswap/protocol/test/stub'
import { GeoswapError, SwapTimeoutError } from '@geoswap/sdk'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { expect, test } from 'vitest'
import { toFault, toRefusal, toToolError, whatIsWrong } from './call-tool.ts'
import { inputs } from './schemas.ts'

const settings = { service: { url: 'http://service', apiKey: 'key' }, rpcUrls: {}, contracts: {} }
const told = (error: unknown, attempt?: object) =>
  toToolError(error, stub<Context>({ settings, seen: { ...(attempt && { attempt }) } }))

const fromService = (code: string, status: number) =>
  new GeoswapError({ code, status, message: 'No "gas".', retryable: false, recovery: {} } as never)

test.each<[string, string, number, string]>([
  ['a refusal of the service is quoted', 'NO_ROUTE', 409, `the service says: "No 'gas'."`],
  ['a lost connection is told by the client', 'CONNECTION_FAILED', 0, 'No "gas".'],
  ['an unreadable reply is told by the client', 'UNEXPECTED_REPLY', 200, 'No "gas".'],
])('%s', (_, code, status, message) => {
  expect(told(fromService(code, status))).toMatchObject({ code, message })
})

test('flags of the command line are named as parameters of the tools', () => {
  const error = new UserError('USAGE', 'Either --amount or --receive.', {
    advice: 'Also --to, --slippage, --max-eta; --new is no parameter.',
  })

  expect(told(error)).toEqual({
    code: 'USAGE',
    message: 'Either amount or receive.',
    advice: 'Also recipient, slippageBps, maxEtaSeconds; --new is no parameter.',
  })
})

test('advice that names a command of the command line is replaced by advice that names a tool', () => {
  const { advice, code } = told(new SwapTimeoutError('swp_1')) ?? {}

  expect([code, advice]).toEqual(['SWAP_TIMEOUT', 'It continues. Follow it with swap_status.'])
  expect(told(new UserError('NO_NODE', 'There is no node.'))).toEqual({
    code: 'NO_NODE',
    message: 'There is no node.',
  })
})

test.each<[string, object | undefined, object]>([
  ['names the attempt', { id: 'att_1', stage: 'submitting' }, { attempt: 'att_1' }],
  [
    'names the swap',
    { id: 'att_1', stage: 'submitted', swapId: 'swp_1' },
    { attempt: 'att_1', swapId: 'swp_1' },
  ],
  [
    'names a swap that is over',
    { id: 'att_1', stage: 'ended', outcome: 'settled', swapId: 'swp_1' },
    { attempt: 'att_1', swapId: 'swp_1' },
  ],
  ['does not name an attempt that is over', { id: 'att_1', stage: 'ended', outcome: 'notSubmitted' }, {}],
  ['names no attempt before one began', undefined, {}],
])('an error %s', (_, attempt, ids) => {
  expect(told(new UserError('DECLINED', 'No.'), attempt)).toEqual({
    code: 'DECLINED',
    message: 'No.',
    ...ids,
  })
  const fault = {
    code: 'INTERNAL',
    message: 'Internal error of geoswap.',
    advice: 'See the log of the server.',
  }
  expect(toFault(stub<Context>({ seen: { ...(attempt && { attempt }) } }))).toEqual({ ...fault, ...ids })
})

test('an error that nobody expected is not explained', () => {
  expect(told(new TypeError('x is not a function'))).toBeUndefined()
})

test('a refusal has a text for people and an error for programs, without control characters', () => {
  const told = { code: 'DECLINED', message: 'No.\u001b[2J', advice: 'Ask.', attempt: 'att_1' }

  expect(toRefusal(told)).toEqual({
    text: 'DECLINED: No. [2J Ask.',
    error: { ...told, message: 'No. [2J' },
  })
  expect(toRefusal({ code: 'DECLINED', message: 'No.' }).text).toBe('DECLINED: No.')
})

test.each<[object, string]>([
  [{}, 'from is missing. to is missing.'],
  [
    { from: 'a', to: 1, slippageBps: 0, maxEtaSeconds: 1.5 },
    'to must be text. slippageBps must be at least 1. maxEtaSeconds must be a whole number.',
  ],
  [
    { from: 'a', to: 'b', slippageBps: 6_000, method: 'x' },
    'slippageBps must be at most 5000. method must be one of delegation, authorization, permit.',
  ],
])('the arguments %j are refused in sentences', (input, sentences) => {
  expect(whatIsWrong(inputs.execute, input)).toBe(sentences)
})

test('an argument that no tool has is refused by its nearest name alone', () => {
  expect(whatIsWrong(inputs.listTokens, { chian: 'alpha' })).toBe(
    'This tool has no argument "chian". Did you mean chain? It has chain.',
  )
})
