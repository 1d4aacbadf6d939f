import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SolanaChain, startSolanaChain } from '@geoswap/solana-rpc'
import { type Address, createSolanaRpc, lamports } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { createSolanaClient } from '../chains/solana/client.ts'
import { readProgram } from '../chains/solana/program.ts'
import { createSolanaSigner } from '../chains/solana/signer.ts'
import { deploy } from './deploy.ts'

const [deployerKey, programKey] = [randomBytes(32), randomBytes(32)]
let chain: SolanaChain
let env: Record<string, string>
let program: Address
beforeAll(async () => {
  chain = await startSolanaChain({ port: 0, slotMs: 20 })
  const deployer = await createSolanaSigner(deployerKey)
  program = (await createSolanaSigner(programKey)).address
  await createSolanaRpc(chain.rpcUrl)
    .requestAirdrop(deployer.address, lamports(10n ** 9n))
    .send()
  const network = JSON.parse(NETWORK_TEXT)
  const { genesisHash: _, ...solana } = network.chains[1]
  network.chains[1] = { ...solana, rpcUrls: [chain.rpcUrl], program }
  const file = join(mkdtempSync(join(tmpdir(), 'geoswap-program-')), 'network.json')
  writeFileSync(file, JSON.stringify(network))
  env = {
    GEOSWAP_CONFIG: file,
    GEOSWAP_SOLANA_DEPLOYER_KEY: `0x${deployerKey.toString('hex')}`,
    GEOSWAP_SOLANA_PROGRAM_KEY: `0x${programKey.toString('hex')}`,
  }
})
afterAll(() => chain.stop())

async function run(...args: string[]) {
  const lines: string[] = []
  const output = { out: (line: string) => lines.push(line), hint: () => {} }
  const code = await deploy(['--chain', 'solana', ...args], env, output as never)
  return { code, text: lines.join('\n') }
}

test('the program is uploaded once, can be compared, and is final on demand', async () => {
  expect(await run('--verify-only')).toMatchObject({ code: 1, text: expect.stringContaining('is missing') })
  expect(await run('--dry-run')).toMatchObject({ code: 0, text: expect.stringContaining('would be created') })

  const created = await run()
  const again = await run()
  const client = createSolanaClient({ urls: [chain.rpcUrl] })
  const { address: deployer } = await createSolanaSigner(deployerKey)
  expect(created).toMatchObject({ code: 0, text: expect.stringContaining('created') })
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('already exists') })
  expect(await readProgram(client, program)).toEqual({ state: 'right', authority: deployer })

  const finished = await run('--final')
  expect(finished).toMatchObject({ code: 0, text: expect.stringContaining('final') })
  expect(await readProgram(client, program)).toEqual({ state: 'right' })
  expect((await run('--verify-only')).code).toBe(0)
}, 60_000)

test('a key that is not the program of the file is refused', async () => {
  const other = { ...env, GEOSWAP_SOLANA_PROGRAM_KEY: `0x${randomBytes(32).toString('hex')}` }

  await expect(
    deploy(['--chain', 'solana'], other, { out: () => {}, hint: () => {} } as never),
  ).rejects.toThrow('as program, but its key is that of')
})
