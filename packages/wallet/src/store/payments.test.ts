import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claimPayment } from './payments.ts'

const wanted = { key: 'a'.repeat(32), url: 'https://seller.example/' }
const newFolder = () => join(mkdtempSync(join(tmpdir(), 'geoswap-payments-')), 'payments')

/** As after a crash: the process that worked on it is gone. */
function killOwner(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const payment = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...payment, owner: { pid: 2 ** 22, startedAt: '1' } }))
  }
}

test('one process at a time pays for a request', () => {
  const folder = newFolder()
  const first = claimPayment(folder, wanted)

  expect(() => claimPayment(folder, wanted)).toThrow(expect.objectContaining({ code: 'PAYMENT_IN_FLIGHT' }))
  expect(claimPayment(folder, { ...wanted, key: 'b'.repeat(32) }).id).not.toBe(first.id)
  first.release()
  expect(claimPayment(folder, wanted).id).not.toBe(first.id)
})

test('the next process gets what a killed one left, also after several', () => {
  const folder = newFolder()
  const killed = claimPayment(folder, wanted)
  killed.store.set(wanted.key, { swap: 'att_1' })
  killOwner(folder)
  const second = claimPayment(folder, wanted)
  killOwner(folder)
  const third = claimPayment(folder, wanted)

  expect([second, third].map(({ id, store }) => [id, store.get(wanted.key)])).toEqual([
    ...Array(2).fill([killed.id, { swap: 'att_1' }]),
  ])
  third.store.delete(wanted.key)
  third.release()
  expect(claimPayment(folder, wanted).store.get(wanted.key)).toBeUndefined()
})
