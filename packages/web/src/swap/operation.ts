type Fields = Readonly<Record<string, unknown>>

/**
 * Every field of an operation, nested ones with their path; of typed data only the hashed values, not the
 * types.
 */
export function fieldsOf(operation: unknown): { name: string; value: string }[] {
  const { message, domain, ...own } = operation as Fields
  return message === undefined ? flatten(own) : flatten({ ...(message as Fields), domain })
}

function flatten(fields: Fields, path = ''): { name: string; value: string }[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const name = path ? `${path}.${key}` : key
    return isFields(value) ? flatten(value, name) : [{ name, value: String(value) }]
  })
}

/** In seconds. After `refund`, anyone can send the input back. */
export function deadlinesOf(operation: unknown): { fill?: number; refund?: number } {
  const { message } = operation as Fields
  const own = isFields(message) ? message : (operation as Fields)
  const nested = own['delivery']
  return {
    fill: isFields(nested) ? Number(nested['fillDeadline']) : undefined,
    refund: own['refundDeadline'] === undefined ? undefined : Number(own['refundDeadline']),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
