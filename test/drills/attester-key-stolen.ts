import { attestationTypes, geoEscrowAbi, geoOpDomain, joinSignatures } from '@geoswap/protocol'
import { encodeFunctionData } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { ends, isHealthy, reaches } from './checks.ts'
import { treasury } from './commands.ts'
import { opOf, writeOff } from './escrow-ops.ts'
import { type Journey, startJourney } from './journeys.ts'
import { seesAlarm } from './observations.ts'
import type { Scene } from './scene.ts'

const KEY = 'GEOSWAP_ATTESTER_KEY'
const DAY = 24 * 3_600

/**
 * The key of the only attester is stolen. The attacker swaps, is delivered to, and signs the input back to the wallet.
 * The treasury stops attested refunds at once, and gives the escrows another attester.
 */
export async function attesterKeyStolen(scene: Scene): Promise<void> {
  const { world, processes } = scene
  await processes.stop('attester')
  const taken = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, taken, 'settled')
  await steal(scene, taken)
  scene.happens(`the key of the attester is stolen. The attacker swaps ten USDC, gets the output, and signs its input
back to the wallet before the claim`)
  const { paid, left } = await taken.read()
  scene.expects(
    'the attacker has output and input',
    paid === taken.output && left > 0n,
    `${paid} and ${left}`,
  )

  scene.configure((config) => ({ ...config, attestedRefundsStopped: true }))
  await treasury(scene, 'apply')
  const again = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, again, 'settled')
  const refusal = await steal(scene, again).then(() => 'it was not', String)
  const isStopped = refusal.includes('AttestedRefundsStopped')
  scene.expects('a second theft is refused by the escrow', isStopped, refusal)
  await processes.start('attester')
  scene.does('the attester is started: claims go on')
  await ends(scene, { what: 'the second swap, by its claim', journey: again, end: 'settled' })
  await writeOff(scene, taken, 'the attester key was stolen')

  const key = await replace(scene)
  for (const chain of world.chains) await chain.advance(DAY)
  scene.happens('a day passes on the chains')
  await treasury(scene, 'apply')
  for (const chain of world.chains) await chain.advance(7 * DAY)
  scene.happens('seven more days pass on the chains. Refunds that are due go back after their deadlines')
  scene.configure(({ nextAttesters, ...config }: Changing) => ({
    ...config,
    attesters: nextAttesters,
    attestedRefundsStopped: false,
  }))
  await treasury(scene, 'apply')
  processes.secrets.attester[KEY] = key
  await processes.restart('api', 'worker', 'attester')
  scene.does('the new set stands in place of the old one, refunds are allowed, and all processes start anew')
  await isHealthy(scene, taken)
}

type Changing = Parameters<Parameters<Scene['configure']>[0]>[0] & { nextAttesters?: object }

/** Names a new attester, which the treasury proposes. */
async function replace(scene: Scene): Promise<string> {
  const { processes } = scene
  const key = generatePrivateKey()
  const nextAttesters = { members: [privateKeyToAddress(key)], threshold: 1 }
  processes.secrets.attester[KEY] += `,${key}`
  scene.configure((config) => ({ ...config, nextAttesters }))
  await treasury(scene, 'apply')
  await seesAlarm(scene, 'GeoswapAttestersChange')
  await processes.restart('api', 'worker', 'attester')
  scene.does('the attester starts with both keys, and the others with both sets')
  return key
}

/** The attacker's refund of a delivered swap, with nothing but the stolen key. */
async function steal(scene: Scene, journey: Journey): Promise<void> {
  const [stolen] = scene.network.keys.attesters
  if (!stolen) throw new Error('No attester')
  const { client } = scene.world.alpha
  const op = await opOf(scene, journey)
  const validUntil = op.refundDeadline
  const signature = await privateKeyToAccount(stolen.privateKey).signTypedData({
    ...{ domain: geoOpDomain(op.origin), types: attestationTypes, primaryType: 'Refund' },
    message: { op: op.hash, validUntil },
  })
  const signatures = joinSignatures([{ signer: stolen.address, signature }])
  const args = [op.locker, op.argument, validUntil, signatures] as const
  const call = { address: op.origin.escrow, abi: geoEscrowAbi, functionName: 'refundAttested', args } as const
  await client.simulateContract({ ...call, account: op.wallet })
  const attacker = privateKeyToAccount(generatePrivateKey())
  await scene.world.fund(scene.world.alpha, attacker.address, 'ETH', 10n ** 18n)
  const data = encodeFunctionData(call)
  const hash = await client.sendTransaction({ account: attacker, chain: null, to: op.origin.escrow, data })
  await client.waitForTransactionReceipt({ hash, pollingInterval: 100 })
}
