import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createKeyPairSignerFromPrivateKeyBytes, getAddressEncoder } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { projectRoot } from '../../packages/devnet/src/node-child.ts'
import { reaches } from './checks.ts'
import { type Journey, moneyOf, prepareJourney } from './journeys.ts'
import { ROLES } from './processes.ts'
import type { Scene } from './scene.ts'

const LONG_SECONDS = 6 * 3_600

/** The operator is gone with every machine and key: users send their inputs back with a node and nothing else. */
export async function operatorGone(scene: Scene): Promise<void> {
  const { processes, world, solana } = scene
  await processes.stop('attester', 'SIGKILL')
  const fromAlpha = await prepareJourney(scene, 'alpha', 'beta')
  const fromSolana = await prepareJourney(scene, 'solana', 'beta')
  // Makes no blocks from now on: deliveries are signed, and none lands.
  await world.beta.halt()
  for (const journey of [fromAlpha, fromSolana]) await journey.submit()
  for (const journey of [fromAlpha, fromSolana]) await reaches(scene, journey, 'delivering')
  for (const role of ROLES) await processes.stop(role, 'SIGKILL')
  scene.happens(`the operator is gone: no process runs and no key is left. Two inputs are in the escrows, one on alpha
and one on solana`)

  const gas = { alpha: await newEvmKey(scene), solana: await newSolanaKey(scene) }
  const refunds = [
    { journey: fromAlpha, rpcUrl: rpcUrlOf(scene, 'alpha'), gasKey: gas.alpha },
    { journey: fromSolana, rpcUrl: rpcUrlOf(scene, 'solana'), gasKey: gas.solana },
  ]
  for (const refund of refunds) {
    const { text } = await geoswapRefund(scene, refund)
    scene.expects('before the deadline nobody can', text.includes('TOO_EARLY'), text)
  }
  await world.alpha.advance(LONG_SECONDS)
  await solana.dev.dev_advanceClock(LONG_SECONDS).send()
  scene.happens('the refund deadlines pass')
  for (const refund of refunds) {
    const { code, text } = await geoswapRefund(scene, refund)
    scene.expects('the input went back', code === 0, text)
    await isBack(scene, refund.journey)
  }
  for (const refund of refunds) {
    const { code, text } = await geoswapRefund(scene, refund)
    scene.expects('a second refund finds it done', code === 0 && !text.includes('txHash'), text)
    await isBack(scene, refund.journey)
  }
}

async function isBack(scene: Scene, journey: Journey): Promise<void> {
  const due = moneyOf(journey, 'refunded')
  const isExact = async () => {
    const { paid, left } = await journey.read()
    return paid === due.paid && left === due.left
  }
  await scene.until('the wallet has all of its input again', isExact)
  scene.sees(`the wallet has ${due.left} again, to the last unit`)
}

type Refund = { journey: Journey; rpcUrl: string; gasKey: string }

/** As a user types it, on a machine that has nothing but the operation of the build reply. */
async function geoswapRefund(scene: Scene, { journey, rpcUrl, gasKey }: Refund) {
  const home = mkdtempSync(join(tmpdir(), 'geoswap-user-'))
  const file = join(home, 'operation.json')
  writeFileSync(file, JSON.stringify(journey.operation))
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, GEOSWAP_CLI_HOME: home, GEOSWAP_GAS_KEY: gasKey }
  const args = ['geoswap', 'refund', '--operation', file, '--rpc', rpcUrl, '--json']
  const { code, text } = await promisify(execFile)('npx', args, { cwd: projectRoot, env }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stdout = '', stderr = '' }) => ({ code: Number(code), text: `${stdout}${stderr}` }),
  )
  scene.does(`geoswap refund --operation operation.json --rpc ${rpcUrl}\n${text.trim()}`)
  return { code, text }
}

function rpcUrlOf({ network }: Scene, name: string): string {
  const chain = network.local.chains.find((each) => each.name === name)
  if (!chain) throw new Error(`No chain ${name}`)
  return chain.rpcUrl
}

async function newEvmKey({ world }: Scene): Promise<string> {
  const key = generatePrivateKey()
  await world.fund(world.alpha, privateKeyToAddress(key), 'ETH', 10n ** 18n)
  return key
}

/** In the form of solana-keygen. */
async function newSolanaKey({ solana }: Scene): Promise<string> {
  const secret = crypto.getRandomValues(new Uint8Array(32))
  const { address } = await createKeyPairSignerFromPrivateKeyBytes(secret)
  await solana.fund(address, 'SOL', 10n ** 8n)
  return JSON.stringify([...secret, ...getAddressEncoder().encode(address)])
}
