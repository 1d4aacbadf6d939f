import { expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { ConnectedChain } from '../chains/families.ts'
import type { Config } from '../config.ts'
import { assertOneTreasury } from './process.ts'

const TREASURY = '0x4000000000000000000000000000000000000001'

function chainOf(name: string, code: string | undefined, isOpen = true): ConnectedChain {
  return stub<ConnectedChain>({
    ...{ config: { name }, gate: { isOpen } },
    readCodeHash: async () => code ?? 'none',
  })
}

const startOn = (all: readonly ConnectedChain[], acceptsTreasury = false) =>
  assertOneTreasury({ network: { treasury: TREASURY } as Config['network'], acceptsTreasury }, { all })

test('a process refuses a treasury whose code differs between chains, unless it is accepted', async () => {
  const [base, bare, other] = [chainOf('base', '0x01'), chainOf('bare', undefined), chainOf('other', '0x02')]

  await expect(startOn([base, bare])).rejects.toThrow('has no code on bare')
  await expect(startOn([base, other])).rejects.toThrow('has other code on some of base, other')
  await startOn([base, other], true)
})

test('a chain that does not answer is not compared', async () => {
  await startOn([chainOf('base', '0x01'), chainOf('silent', undefined, false)])
})
