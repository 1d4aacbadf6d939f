// Shapes of plots, in a box with its origin at the top left. Numbers here are for drawing only.

type Box = { width: number; height: number }
type Bar = { x: number; y: number; width: number; height: number }

/** The smallest 1, 2 or 5 times a power of ten that is not below the value: the top of an axis. */
export function niceMax(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10
  return step * power
}

/** A line through the known values, broken where one is missing. A single value is a dot. */
export function toLinePath(
  values: readonly (number | undefined)[],
  { width, height, max }: Box & { max: number },
): string {
  const step = width / values.length
  const parts = values.map((value, index) => {
    if (value === undefined) return ''
    const at = `${round((index + 0.5) * step)} ${round(height - (value / max) * height)}`
    if (values[index - 1] !== undefined) return `L${at}`
    return values[index + 1] === undefined ? `M${at}h0` : `M${at}`
  })
  return parts.join('')
}

/** Stacked bars for each bucket, from the bottom up, without empty ones. */
export function toBars(
  stacks: readonly (readonly number[])[],
  { width, height, max }: Box & { max: number },
): (Bar & { kind: number })[] {
  const step = width / stacks.length
  return stacks.flatMap((stack, index) => {
    let top = height
    return stack.flatMap((value, kind) => {
      if (value <= 0) return []
      const size = (value / max) * height
      top -= size
      return [
        {
          kind,
          x: round((index + 0.1) * step),
          y: round(top),
          width: round(step * 0.8),
          height: round(size),
        },
      ]
    })
  })
}

const round = (value: number): number => Math.round(value * 100) / 100
