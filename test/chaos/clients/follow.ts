import type { Scene } from './scene.ts'

const HELD_SECONDS = 5

/** Held reads until the end, and one more after it: the end must not change. */
export async function follow({ caller, isOver }: Scene, swapId: string): Promise<void> {
  while (!isOver()) {
    const { status, body } = await caller.status(swapId, HELD_SECONDS)
    if (status === 200 && body.status !== 'pending') break
  }
  await caller.status(swapId, 0)
}
