import { Client } from 'pg'
import { ends, isHealthy, reaches } from './checks.ts'
import { service } from './commands.ts'
import { startJourney } from './journeys.ts'
import { ROLES } from './processes.ts'
import type { Scene } from './scene.ts'

const SEND = 'eth_sendRawTransaction'
const BACKUP = 'geoswap_backup'
const AFTER_EVERY_DEADLINE = 600

/** The database is lost, and the backup is older than swaps that were delivered, claimed, or signed for. */
export async function databaseRestore(scene: Scene): Promise<void> {
  const { world, nodes, processes } = scene
  await scene.until('the books of all chains are open', () => haveBooks(scene))
  await processes.stopAll()
  await copyDatabase(scene, 'geoswap', BACKUP)
  await Promise.all(ROLES.map((role) => processes.start(role)))
  scene.does('a backup is made')
  const closed = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, closed, 'closed')
  await processes.stop('attester')
  const delivered = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, delivered, 'settled')
  nodes.beta.onCall(({ method }) => (method === SEND ? 'dropRequest' : 'forward'))
  const unpaid = await startJourney(scene, 'alpha', 'beta')
  await reaches(scene, unpaid, 'delivering')
  await Promise.all(ROLES.map((role) => processes.stop(role, 'SIGKILL')))
  nodes.beta.onCall(undefined)
  await copyDatabase(scene, BACKUP, 'geoswap')
  scene.happens(`the database is lost, and the backup restored. Since then one swap was claimed, one delivered and
not claimed, and for one a delivery was signed that never left`)

  scene.sees(`the API refuses to start: ${await processes.refusalOf('api')}`)
  scene.sees(`the worker refuses to start: ${await processes.refusalOf('worker')}`)
  scene.sees(`the attester refuses to start: ${await processes.refusalOf('attester')}`)
  await service(scene, 'migrate')
  const said = await service(scene, 'rebuild')
  scene.expects('it found all three', /^3 swaps were on a chain but not here/m.test(said))
  await Promise.all(ROLES.map((role) => processes.start(role)))
  scene.does('attester, worker and API are started')

  await ends(scene, { what: 'the swap that was claimed', journey: closed, end: 'settled' })
  await ends(scene, { what: 'the swap that was delivered', journey: delivered, end: 'settled' })
  for (const chain of world.chains) await chain.advance(AFTER_EVERY_DEADLINE)
  scene.happens(
    `the clocks of the chains go ${AFTER_EVERY_DEADLINE} s ahead: the wallet's refund deadline passes`,
  )
  await ends(scene, {
    what: 'the swap whose delivery never left',
    journey: unpaid,
    end: 'refunded',
    timeoutMs: 120_000,
  })
  await isHealthy(scene)
  const stops = await service(scene, 'stops', '--json')
  scene.expects('no drift: nothing is stopped', stops === '[]', stops)
}

/** A swap that ended before the books began needs no row, and is not restored. */
export async function haveBooks({ query, network }: Scene): Promise<boolean> {
  const open = await query('select 1 from ledger_cursors')
  return open.length === network.local.chains.length
}

/** Copied by the server itself, while nobody is connected. */
async function copyDatabase({ network }: Scene, from: string, to: string): Promise<void> {
  const url = new URL(network.databaseUrl)
  url.pathname = '/postgres'
  const client = new Client(url.href)
  await client.connect()
  try {
    await client.query(`drop database if exists ${to} with (force)`)
    await client.query(`create database ${to} template ${from}`)
  } finally {
    await client.end()
  }
}
