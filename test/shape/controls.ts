import { controlShape } from '@geoswap/devnet'
import type { LocalNetwork } from '../world.ts'

/** The fields of a meter's row that chains of every family have. */
export type Metered = {
  chain: string
  client: string
  method: string
  calls: number
  refused: number
  requestBytes: number
  replyBytes: number
}

export type Controls = ReturnType<typeof createControls>

/** Controls of time, finality, fees and meters of the mainnet shape, by chain name. */
export function createControls({ chains }: Pick<LocalNetwork, 'chains'>) {
  const shaped = chains.map(({ name, shape }) => {
    if (!shape) throw new Error(`${name} does not behave like a public chain`)
    return { name, url: shape.controlUrl }
  })
  const urlOf = (chain: string): string => {
    const found = shaped.find(({ name }) => name === chain)
    if (!found) throw new Error(`The network has no chain ${chain}`)
    return found.url
  }
  return {
    /** Makes the blocks of this time span at once; finality follows. */
    advance: (chain: string, seconds: number) => controlShape(urlOf(chain), 'shape_advance', seconds),
    advanceAll: async (seconds: number): Promise<void> => {
      await Promise.all(shaped.map(({ url }) => controlShape(url, 'shape_advance', seconds)))
    },
    haltFinality: (chain: string) => controlShape(urlOf(chain), 'shape_haltFinality'),
    resumeFinality: (chain: string) => controlShape(urlOf(chain), 'shape_resumeFinality'),
    /** 1 is normal, 3 is three times slower. */
    setFinalityLag: (chain: string, factor: number) =>
      controlShape(urlOf(chain), 'shape_setFinalityLag', factor),
    /** 1 is normal, 10 a spike; only on rollups. */
    setL1Price: (chain: string, factor: number) =>
      controlShape(urlOf(chain), 'shape_setL1PriceFactor', factor),
    /** Null is normal. */
    setRateLimit: (chain: string, callsPerSecond: number | null) =>
      controlShape(urlOf(chain), 'shape_setRateLimit', callsPerSecond),
    setBackendLag: (chain: string, blocks: number | null) =>
      controlShape(urlOf(chain), 'shape_setBackendLag', blocks),
    readMeters: async (): Promise<Metered[]> => {
      const read = async ({ name, url }: { name: string; url: string }) => {
        const rows = await controlShape(url, 'shape_readMeter')
        return rows.map((row) => ({ ...row, chain: name }))
      }
      return (await Promise.all(shaped.map(read))).flat()
    },
    resetMeters: async (): Promise<void> => {
      await Promise.all(shaped.map(({ url }) => controlShape(url, 'shape_resetMeter')))
    },
  }
}
