// Generated from program/escrow.s by npm run generate.
export const escrowProgram: Uint8Array = new Uint8Array()
