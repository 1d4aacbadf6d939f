import { readAccounts } from './accounts.ts'
import { toOpId } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import { type Marker, type MarkerKind, toMarker } from './marker.ts'
import { findMarkerTransaction } from './marker-history.ts'
import { remember } from './memory.ts'

/** One payment of one op: at most one transaction ever creates one of its markers. */
export type MarkerRef = { kind: MarkerKind; id: string; base: string }
export type Creation = { txHash: string; slot: bigint; paidTo: string }

type At = { commitment: Depth; minContextSlot?: bigint }

export type MarkerBook = {
  /** The transaction that made each payment, in the order asked; undefined where none did. */
  findCreations(refs: readonly MarkerRef[], at: At): Promise<(Creation | undefined)[]>
  /** What was found before, without asking again. */
  recall(ref: MarkerRef): Creation | undefined
  /** The generation to pay with; undefined when the payment was made. */
  nextGeneration(ref: MarkerRef): Promise<number | undefined>
}

// Whoever blocks a marker pays its rent; this many of them only after as many signed payments have died.
const MAX_GENERATIONS = 16

/** What markers say. Presence proves little, since anyone may fund a known address: the creation is looked up. */
export function createMarkerBook(client: SolanaClient, key: Uint8Array): MarkerBook {
  const markerOf = createMarkerMemory(key)
  const creations = createCreationMemory(client)

  /** One generation for all; those whose marker is there without a creation go on to the next. */
  async function findIn(refs: readonly MarkerRef[], at: At, generation: number) {
    const found = new Map<MarkerRef, Creation>()
    const blocked: MarkerRef[] = []
    const all = await Promise.all(refs.map((ref) => markerOf(ref, generation)))
    const accounts = await readAccounts(client, { addresses: all.map(({ address }) => address), ...at })
    await Promise.all(
      refs.map(async (ref, index) => {
        const marker = all[index]
        if (!marker || !accounts[index]) return
        const creation = await creations.find(ref, marker, at)
        if (creation) found.set(ref, creation)
        else if (ref.kind !== 'input') blocked.push(ref)
      }),
    )
    return { found, blocked }
  }

  return {
    async findCreations(refs, at) {
      const found = new Map<MarkerRef, Creation>(creations.recallFinal(refs))
      let open: readonly MarkerRef[] = refs.filter((ref) => !found.has(ref) && !creations.isAfter(ref, at))
      for (let generation = 0; open.length > 0; generation += 1) {
        assertGeneration(generation)
        const round = await findIn(open, at, generation)
        for (const [ref, creation] of round.found) found.set(ref, creation)
        open = round.blocked
      }
      return refs.map((ref) => found.get(ref))
    },
    recall: creations.recall,
    async nextGeneration(ref) {
      for (let generation = 0; ; generation += 1) {
        assertGeneration(generation)
        const marker = await markerOf(ref, generation)
        const at = { commitment: 'confirmed' } as const
        const [account] = await readAccounts(client, { addresses: [marker.address], ...at })
        if (!account) return generation
        if (await creations.find(ref, marker, at)) return undefined
      }
    },
  }
}

function createMarkerMemory(key: Uint8Array) {
  const markers = new Map<string, Promise<Marker>>()
  return (ref: MarkerRef, generation: number): Promise<Marker> =>
    remember(markers, `${nameOf(ref)}:${generation}`, () =>
      toMarker({ key, base: ref.base, kind: ref.kind, opHash: ref.id, generation }),
    )
}

/** Of each commitment: what was only confirmed when it was found is looked up again as finalized. */
function createCreationMemory(client: SolanaClient) {
  const created = new Map<string, Creation>()
  return {
    async find(ref: MarkerRef, marker: Marker, { commitment }: At): Promise<Creation | undefined> {
      const name = `${nameOf(ref)}:${commitment}`
      const same = created.get(name)
      if (same) return same
      const known = created.get(`${nameOf(ref)}:confirmed`)
      const found = await findMarkerTransaction(client, { marker, opId: toOpId(ref.id), commitment, known })
      return found && remember(created, name, () => found)
    },
    recall(ref: MarkerRef): Creation | undefined {
      return created.get(`${nameOf(ref)}:finalized`) ?? created.get(`${nameOf(ref)}:confirmed`)
    },
    /** Known to have happened after the slot that is asked about: at that slot it was not final. */
    isAfter(ref: MarkerRef, { commitment, minContextSlot }: At): boolean {
      if (commitment !== 'finalized' || minContextSlot === undefined) return false
      const known = created.get(`${nameOf(ref)}:confirmed`)
      return known !== undefined && known.slot > minContextSlot
    },
    /** What is finalized stays so: nothing has to be asked about it again. */
    recallFinal(refs: readonly MarkerRef[]): [MarkerRef, Creation][] {
      return refs.flatMap((ref) => {
        const known = created.get(`${nameOf(ref)}:finalized`)
        return known ? [[ref, known]] : []
      })
    },
  }
}

const nameOf = ({ kind, id }: MarkerRef) => `${kind}:${id}`

function assertGeneration(generation: number): void {
  if (generation >= MAX_GENERATIONS) throw new Error('Strangers fund the markers of this op')
}
