import { randomBytes } from 'node:crypto'
import type { Address } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOperatedSolana } from '../../test/support/operated-solana.ts'
import { readAccounts, toTokenAccount, toTokenAccountAddress } from '../chains/solana/accounts.ts'
import { createSolanaClient, type SolanaClients } from '../chains/solana/client.ts'
import { readProgram } from '../chains/solana/deployment.ts'
import { deploy } from './deploy.ts'

let world: Awaited<ReturnType<typeof startOperatedSolana>>
beforeAll(async () => {
  world = await startOperatedSolana()
})
afterAll(() => world.stop())

const run = (...args: string[]) => world.run(deploy, ['--chain', 'solana', ...args])

test('a key that is not the program of the file is refused', async () => {
  const other = { GEOSWAP_SOLANA_PROGRAM_KEY: `0x${randomBytes(32).toString('hex')}` }

  const { text } = await world.run(deploy, ['--chain', 'solana'], other)

  expect(text).toContain('as program, but its key is that of')
})

test('a deployer without SOL is named with its amount before anything is sent', async () => {
  expect(await run()).toEqual({
    code: 2,
    text: expect.stringMatching(/the deployer \w+ has 0 SOL and needs about 0\.\d+\. Nothing was sent there/),
  })
})

test('program and token accounts are created once, can be compared, and the program is final on demand', async () => {
  const { deployer, config } = world
  await world.give(deployer, 10n ** 9n)
  const before = await run('--verify-only')
  const planned = await run('--dry-run')

  const created = await run()
  const again = await world.run(deploy, ['--chain', 'solana'], { GEOSWAP_SOLANA_PROGRAM_KEY: '' })

  const client = createSolanaClient({ urls: [world.chain.rpcUrl] })
  const [{ address: mint }] = config.tokens
  const address = await toTokenAccountAddress({ owner: config.vault, mint, program: TOKEN_PROGRAM_ADDRESS })
  const [account] = await readAccounts(client, { addresses: [address] })
  expect(before).toMatchObject({ code: 1, text: expect.stringContaining('is missing') })
  expect(before.text).toContain(`the vault ${config.vault} has no token account of USDC`)
  expect(planned).toMatchObject({ code: 0, text: expect.stringContaining('would be created') })
  expect(planned.text).toMatch(/about 0\.0\d+ SOL in total/)
  expect(created).toMatchObject({
    code: 0,
    text: expect.stringContaining('token account of USDC of the vault'),
  })
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('already exists') })
  expect(account && toTokenAccount(account)).toMatchObject({ owner: config.vault, amount: 0n })
  expect(await readProgram(client, config.program)).toEqual({ state: 'right', authority: deployer })

  const paid = await feesOf(client, deployer)
  expect(paid.length).toBeGreaterThan(2)
  for (const { fee, signatures } of paid) expect(fee).toBeGreaterThan(signatures * 5_000n)

  const finished = await run('--final')
  expect(finished).toMatchObject({ code: 0, text: expect.stringContaining('final') })
  expect(await readProgram(client, config.program)).toEqual({ state: 'right' })
  expect((await run('--verify-only')).code).toBe(0)
}, 60_000)

async function feesOf({ rpc }: SolanaClients, payer: string) {
  const sent = await rpc.getSignaturesForAddress(payer as Address).send()
  const found = await Promise.all(
    sent.map(({ signature }) =>
      rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send(),
    ),
  )
  const own = found.filter((each) => each?.transaction.message.accountKeys[0] === payer)
  return own.map((each) => ({
    fee: BigInt(each?.meta?.fee ?? 0n),
    signatures: BigInt(each?.transaction.signatures.length ?? 0),
  }))
}
