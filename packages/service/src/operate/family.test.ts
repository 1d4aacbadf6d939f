import { expect, test } from 'vitest'
import { onEach } from './family.ts'

test('a chain that fails keeps no other from its end, and all failures are told', async () => {
  const ended: string[] = []
  const work = async (name: string) => {
    if (name !== 'base') throw new Error(`${name}: no gas`)
    ended.push(name)
    return name
  }

  await expect(onEach(['arbitrum', 'base', 'solana'], work)).rejects.toThrow(
    'arbitrum: no gas\nsolana: no gas',
  )
  expect(ended).toEqual(['base'])
  expect(await onEach(['base'], work)).toEqual(['base'])
})
