import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chains, offer, startTestService } from '@geoswap/wallet/test/service'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { start } from '../../test/say.ts'

let service: Awaited<ReturnType<typeof startTestService>>
let folder: string
beforeEach(async () => {
  service = await startTestService()
  folder = mkdtempSync(join(tmpdir(), 'geoswap-command-'))
  const { url, nodeOf } = service
  const contract = `0x${'1'.repeat(40)}`
  const contracts = { account: contract, escrow: contract, vault: contract }
  const local = {
    ...{ apiUrl: url, apiKey: 'gsk_local', faucetUrl: `${url}/faucet` },
    chains: chains.map(({ chainId, name }) => ({ chainId, name, rpcUrl: nodeOf(chainId), contracts })),
  }
  writeFileSync(join(folder, 'local.json'), JSON.stringify(local))
})
afterEach(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const begin = (...line: string[]) => start(line, { home: join(folder, 'home'), networkHome: folder })
const say = (...line: string[]) => begin(...line).ended
const ROUTE = ['alpha:USDC', 'beta:USDC', '--amount']
// Nobody holds it yet.
const UNFUNDED = ['alpha:EMPTY', 'beta:USDC', '--amount']
const wasAsked = (path: string) => service.requests.some(({ pathname }) => pathname.startsWith(path))

const refusal = (code: string, recovery: object) => ({
  status: 422,
  body: { code, message: 'No.', requestId: 'req_1', retryable: false, recovery },
})

// Costs of 0.05 USDC, as the service would take them from any amount.
const COST = 50_000n
beforeEach(() => {
  service.answers['/swap/quote'] = (_url, { amount = '' }) => {
    const input = BigInt(amount)
    const minAmount = `${COST + 1n}`
    if (input <= COST) return refusal('NEEDS_LARGER_SIZE', { action: 'INCREASE_AMOUNT', minAmount })
    const output = `${input - COST}`
    return {
      ...offer,
      input: amount,
      output,
      minOutput: output,
      priceImpactBps: -Number((COST * 10_000n) / input),
    }
  }
})

test('the smallest amount suggested is one that is swapped without a further confirmation', async () => {
  const { code, stderr } = await say('quote', ...ROUTE, '0.01')

  expect(code).toBe(1)
  const [, suggested = ''] = /The service quotes ([\d.]+) USDC without a high loss\./.exec(stderr) ?? []
  expect(Number(suggested)).toBeGreaterThan(0.05 / 0.05)
  expect(Number(suggested)).toBeLessThan(2)
  const { stdout } = await say('quote', ...ROUTE, suggested, '--json')
  expect(JSON.parse(stdout).priceImpactBps).toBeGreaterThan(-500)
  expect(stderr).toMatch(/^error: The service refuses the amount as too small/)
})

test('the faucet gives nothing for a swap that is not quoted', async () => {
  const { code, stderr } = await say('swap', ...UNFUNDED, '0.01')

  expect([code, stderr]).toEqual([1, expect.stringContaining('too small')])
  expect(wasAsked('/faucet')).toBe(false)
})

test('the faucet gives nothing for a swap that loses too much', async () => {
  const { code, stderr } = await say('swap', ...UNFUNDED, '0.1')

  expect([code, stderr]).toEqual([1, expect.stringContaining('Not swapped')])
  expect(wasAsked('/faucet')).toBe(false)
})

test('the faucet fills the wallet of a local network for a swap that was quoted', async () => {
  const gifts: object[] = []
  service.answers['/faucet'] = (_url, gift) => {
    gifts.push(gift)
    return { txHash: '0x1' }
  }

  await say('swap', ...UNFUNDED, '10')

  expect(gifts).toMatchObject([{ chainId: 31_337, amount: '20000000' }])
})

test('costs are told in words, with their chain', async () => {
  const fees = [
    { kind: 'serviceFee', amount: '1000' },
    { kind: 'originNetwork', amount: '2000' },
    { kind: 'deliveryNetwork', amount: '3000' },
    { kind: 'accountRent', amount: '4000' },
    { kind: 'priceImpact', amount: '5000' },
  ]
  service.answers['/swap/quote'] = () => ({ ...offer, fees })

  const { stdout } = await say('quote', ...ROUTE, '10')

  expect([...stdout.matchAll(/^cost {2,}(\S+ USDC) {2,}(.*)$/gm)].map(([, ...cells]) => cells)).toEqual([
    ['0.001 USDC', 'service fee, 0.1 %'],
    ['0.002 USDC', 'network costs on alpha'],
    ['0.003 USDC', 'network costs on beta'],
    ['0.004 USDC', 'new token account on beta'],
    ['0.005 USDC', 'spread and price impact'],
  ])
})

test.each(['status', 'refund', 'recover'])(
  '%s of what is no id says what an id looks like',
  async (command) => {
    const { code, stderr } = await say(command, 'nope')

    expect(code).toBe(1)
    expect(stderr).toContain('nope is not the id of a swap.')
    expect(stderr).toMatch(/swp_[0-9a-f]{32}/)
    expect(stderr).toContain('geoswap history')
    expect(service.requests).toEqual([])
  },
)

test('Ctrl-C exits with 130', async () => {
  const command = begin('status', `swp_${'0'.repeat(32)}`, '--wait')
  await expect.poll(() => wasAsked('/swap/status')).toBe(true)

  command.press()

  expect(await command.ended).toMatchObject({
    code: 130,
    stderr: expect.stringContaining(`The swap swp_${'0'.repeat(32)} continues: geoswap status swp_`),
  })
})
