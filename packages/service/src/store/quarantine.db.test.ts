import { beforeEach, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { showQuarantine } from '../operate/quarantine.ts'
import {
  countQuarantined,
  deleteStaleQuarantine,
  findQuarantined,
  releaseItem,
  setAside,
} from './quarantine.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('delete from quarantine'))

const item = { step: 'propose', id: 'swp_1', error: 'Error: first\n    at somewhere' }
const age = (id: string, interval: string) =>
  database.pool.query('update quarantine set last_at = last_at - $2::interval where id = $1', [id, interval])

/** The printed lines of the command. */
async function show(...args: string[]): Promise<string> {
  const lines: string[] = []
  const output = { out: (text: string) => lines.push(text), hint: (text: string) => lines.push(text) }
  await showQuarantine(args, { DATABASE_URL: database.url }, output)
  return lines.join('\n')
}

test('an item that fails again keeps its place, with its last error and the number of failures', async () => {
  await setAside(database.pool, item)
  await setAside(database.pool, { ...item, id: 'swp_2' })
  await setAside(database.pool, { ...item, error: 'second' })

  expect(await findQuarantined(database.pool)).toMatchObject([
    { id: 'swp_1', error: 'second', failures: 2 },
    { id: 'swp_2', failures: 1 },
  ])
})

test('an item counts until it is released, or nobody has tried it for ten minutes', async () => {
  for (const id of ['a', 'b', 'c']) await setAside(database.pool, { ...item, id })

  await releaseItem(database.pool, { step: item.step, id: 'a' })
  await age('b', '11 minutes')

  expect(await countQuarantined(database.pool)).toBe(1)
})

test('items that nobody has tried for a month are deleted', async () => {
  for (const id of ['a', 'b']) await setAside(database.pool, { ...item, id })
  await age('a', '31 days')

  await deleteStaleQuarantine(database.pool)

  expect(await findQuarantined(database.pool)).toMatchObject([{ id: 'b' }])
})

test('the command lists what is set aside, and the whole error when asked', async () => {
  expect(await show()).toBe('Nothing is set aside.')
  await setAside(database.pool, item)

  expect(await show()).toMatch(/propose +swp_1 .* 1 +Error: first$/)
  expect(await show('--errors')).toContain('at somewhere')
  expect(JSON.parse(await show('--json'))).toMatchObject([item])
})
