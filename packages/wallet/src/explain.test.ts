import { GeoswapError, SubmissionUnknownError, SwapRefusedError, TamperedOperationError } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { interrupted } from './context.ts'
import { explain } from './explain.ts'

const known = { url: 'http://service', isLocal: false, clockAheadMs: 0, order: undefined }
const late = { field: 'opDeadline', expected: 'after 2000', actual: '1000' }
const refusal = (code: 'INVALID_API_KEY' | 'CONNECTION_FAILED' | 'NEEDS_LARGER_SIZE', recovery = {}) =>
  new GeoswapError({
    code,
    message: 'No.',
    status: 0,
    retryable: false,
    recovery: { action: 'FIX_REQUEST', ...recovery },
  })

test('CLOCK_WRONG when only deadlines differ and the clock is ten minutes ahead', () => {
  const told = explain(new TamperedOperationError([late]), () => ({ ...known, clockAheadMs: 600_000 }))

  expect(told?.code).toBe('CLOCK_WRONG')
  expect(told?.message).toContain('10 min ahead')
})

test.each([
  ['the clock is right', [late], 0],
  ['something else differs too', [late, { ...late, field: 'delivery.recipient' }], 600_000],
])('TAMPERED_OPERATION stays when %s', (_when, differences, clockAheadMs) => {
  const told = explain(new TamperedOperationError(differences), () => ({ ...known, clockAheadMs }))

  expect(told).toMatchObject({ code: 'TAMPERED_OPERATION', details: { differences } })
  expect(told?.advice).toContain('Do not use http://service')
})

test('a refused API key and an unreachable service name the setting and the URL', () => {
  expect(explain(refusal('INVALID_API_KEY'), () => known)?.advice).toContain('geoswap config set apiKey KEY')
  expect(explain(refusal('CONNECTION_FAILED'), () => known)?.advice).toContain('http://service')
  expect(explain(refusal('CONNECTION_FAILED'), () => ({ ...known, isLocal: true }))?.advice).toContain(
    'npm start',
  )
})

const side = { chainId: 1, chain: 'alpha', token: '0xa', symbol: 'USDC', decimals: 6 }
const order = {
  service: 'http://service',
  wallet: { name: 'bot', address: '0x1' },
  recipient: '0x1',
  amount: '10',
  from: side,
  to: { ...side, symbol: 'ETH', decimals: 18 },
}

test('a transfer that was asked for is followed, and one that is late is not said to be unsigned', () => {
  const adviceFor = (code: 'PAYMENT_ASKED' | 'PAYMENT_LATE') =>
    explain(new SwapRefusedError(code, 'No.', { swapId: 'swp_1' }), () => known)

  expect(adviceFor('PAYMENT_ASKED')).toMatchObject({
    advice: expect.stringContaining('geoswap status swp_1 --wait'),
    details: { swapId: 'swp_1' },
  })
  expect(adviceFor('PAYMENT_LATE')?.advice).toBe('Nothing was sent. Swap again.')
})

test('the limit that a quote broke is in whole tokens', () => {
  const toldFor = (code: 'INPUT_LIMIT' | 'OUTPUT_LIMIT', quoted: string, allowed: string) => {
    const error = new SwapRefusedError(code, 'No.', { amounts: { quoted, allowed } })
    return explain(error, () => ({ ...known, order: { ...order, tradeType: 'exactOutput' } }))?.message
  }

  expect(toldFor('INPUT_LIMIT', '10500000', '10000000')).toBe(
    'The input is 10.5 USDC, at most 10 USDC is allowed.',
  )
  expect(toldFor('OUTPUT_LIMIT', `${10n ** 17n}`, `${10n ** 18n}`)).toBe(
    'The guaranteed output is 0.1 ETH, at least 1 ETH is wanted.',
  )
})

test('the amounts of a refusal are in whole tokens of the requested side', () => {
  const tooSmall = refusal('NEEDS_LARGER_SIZE', { minAmount: '3144' })
  const toldFor = (tradeType: 'exactInput' | 'exactOutput') =>
    explain(tooSmall, () => ({ ...known, order: { ...order, tradeType } }))?.advice

  expect(toldFor('exactInput')).toBe('The service says: use at least 0.003144 USDC.')
  expect(toldFor('exactOutput')).toBe('The service says: use at least 0.000000000000003144 ETH.')
})

test('INTERRUPTED during a submission says that the outcome is unknown', () => {
  const error = new SubmissionUnknownError({ geoOpToken: '', signature: '' }, { cause: interrupted() })

  expect(explain(error, () => known)).toMatchObject({ code: 'INTERRUPTED' })
})

test('unexpected errors have no explanation', () => {
  expect(explain(new TypeError('x is not a function'), () => known)).toBeUndefined()
})
