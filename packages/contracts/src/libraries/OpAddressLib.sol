// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title OpAddressLib
/// @notice An op's own address: CREATE2 by the escrow with the op's hash as salt. Its code obeys the escrow alone.
/// @dev The code, 35 bytes. It runs the escrow's code in its own name (DELEGATECALL) with all gas if the caller is the
///      escrow, and with no gas, so without effect, if not. It returns nothing: the escrow compares balances.
///      365f5f37     copy the calldata to memory
///      5f5f365f     no room for return data; the calldata as input
///      73<escrow>   the code to run
///      8033145a02   (caller == escrow) * gas left
///      f4           DELEGATECALL, then the end
library OpAddressLib {
    /// @dev Returns the 35 bytes after these 9.
    bytes18 private constant HEAD = hex"60235f8160095f39f3365f5f375f5f365f73";
    bytes6 private constant TAIL = hex"8033145a02f4";

    /// @dev The init code, equal for all ops of an escrow.
    function initCode(address escrow) internal pure returns (bytes memory) {
        return abi.encodePacked(HEAD, escrow, TAIL);
    }

    /// @dev The address, whether it has code yet or not.
    function predict(bytes32 op, bytes32 initCodeHash) internal view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), op, initCodeHash)))));
    }

    /// @dev Creates the code at the op's address. The caller has checked that there is none.
    function create(bytes32 op) internal returns (address created) {
        bytes memory code = initCode(address(this));
        assembly ("memory-safe") {
            created := create2(0, add(code, 0x20), mload(code), op)
        }
        assert(created != address(0));
    }
}
