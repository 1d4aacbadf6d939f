// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

/// @title CappedCallLib
/// @notice Payments and balance reads that a hostile token or recipient can make fail, but not make expensive.
/// @dev Assembly, because Solidity's low-level call copies all return data: a callee inside its gas cap could still make
///      the caller pay for hundreds of kilobytes of it and so make a whole batch fail. At most 32 bytes are copied here.
library CappedCallLib {
    /// @dev Moves native coin (`token` = 0) or a token, each with its own gas cap. False when the recipient or token refuses.
    function tryPay(address token, address to, uint256 amount, uint256 nativeGas, uint256 tokenGas)
        internal
        returns (bool)
    {
        if (token == address(0)) return SafeTransferLib.trySafeTransferETH(to, amount, nativeGas);
        return tryTransfer(token, to, amount, tokenGas);
    }

    /// @dev ERC-20 `transfer` under a gas cap; success means what it means for SafeTransferLib. Equivalent Solidity:
    ///      (bool done, bytes memory data) = token.call{gas: gasCap}(abi.encodeCall(IERC20.transfer, (to, amount)));
    ///      ok = done && (data.length == 0 ? token.code.length != 0 : data.length >= 32 && abi.decode(data, (uint256)) == 1);
    function tryTransfer(address token, address to, uint256 amount, uint256 gasCap) internal returns (bool ok) {
        assembly ("memory-safe") {
            mstore(0x14, to)
            mstore(0x34, amount)
            mstore(0x00, 0xa9059cbb000000000000000000000000) // transfer(address,uint256)
            ok := call(gasCap, token, 0, 0x10, 0x44, 0x00, 0x20)
            if ok {
                ok := and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))
                if iszero(returndatasize()) { ok := iszero(iszero(extcodesize(token))) }
            }
            mstore(0x34, 0) // the free memory pointer's upper bytes
        }
    }

    /// @dev This contract's balance of native coin (`token` = 0) or a token, read under a gas cap. Equivalent Solidity:
    ///      (bool done, bytes memory data) = token.staticcall{gas: gasCap}(abi.encodeCall(IERC20.balanceOf, (address(this))));
    ///      ok = done && data.length >= 32; held = ok ? abi.decode(data, (uint256)) : 0;
    function tryBalance(address token, uint256 gasCap) internal view returns (bool ok, uint256 held) {
        if (token == address(0)) return (true, address(this).balance);
        assembly ("memory-safe") {
            mstore(0x14, address())
            mstore(0x00, 0x70a08231000000000000000000000000) // balanceOf(address)
            ok := and(gt(returndatasize(), 0x1f), staticcall(gasCap, token, 0x10, 0x24, 0x20, 0x20))
            held := mul(ok, mload(0x20))
        }
    }
}
